import { hashContent } from "../../base/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { SentReport } from "../exchange.ts";
import { decodeBody } from "./decode.ts";
import { maskSecrets, maskText } from "./masking.ts";

export type Masked<C> = { readonly copy: C; readonly masked: boolean };

type WithBody = { readonly body: Uint8Array | null; readonly headers: Readonly<Record<string, string>> };

/** The copy as it may be written down. A compressed body that holds a secret is not kept at all. */
export function withoutSecrets<C extends WithBody>(given: C, forms: readonly string[]): Masked<C> {
  if (given.body === null || forms.length === 0) return { copy: given, masked: false };
  const copy = { ...given, body: ownBytes(given.body) };
  const encoding = copy.headers["content-encoding"] ?? "";
  if (encoding === "" || encoding === "identity") return { copy, masked: maskSecrets(copy.body, forms) };
  const plain = decodeBody(copy.body, encoding);
  const isClean = plain === null || !maskSecrets(Uint8Array.from(plain), forms);
  return isClean ? { copy, masked: false } : { copy: { ...given, body: null }, masked: true };
}

/** The report as it may be written down, its body in one piece, in memory of its own. */
export function cleanReport(report: SentReport, forms: readonly string[]): Masked<SentReport> {
  const body = Buffer.concat(report.body);
  const isBodyMasked = maskSecrets(body, forms);
  const fresh = report.fresh.map((unit) => {
    const bytes = Uint8Array.from(unit.bytes);
    return { ...unit, key: maskText(unit.key, forms), bytes, masked: maskSecrets(bytes, forms) };
  });
  const masked = isBodyMasked || fresh.some((unit) => unit.masked);
  return { copy: { ...report, fresh, body: [body] }, masked };
}

export type CleanAnswer = { readonly answer: WireAnswer | null; readonly masked: boolean };

/** A secret may come together only when the pieces of an answer do. */
export function cleanAnswer(answer: WireAnswer | null, forms: readonly string[]): CleanAnswer {
  if (answer === null || forms.length === 0) return { answer, masked: false };
  const clean = (text: string | null): string | null => (text === null ? null : maskText(text, forms));
  const units = answer.units.map((one) => {
    const bytes = Uint8Array.from(one.bytes);
    return maskSecrets(bytes, forms) ? { unit: { ...one.unit, hash: hashContent(bytes) }, bytes } : one;
  });
  const masked = units.some((one, at) => one !== answer.units[at]);
  return { answer: { ...answer, units, problem: clean(answer.problem), stop: clean(answer.stop) }, masked };
}

/** Shared memory belongs to others too, who must go on seeing what was sent: masking needs a copy. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? Uint8Array.from(bytes) : bytes;
}
