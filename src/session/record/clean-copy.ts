import { hashContent } from "../../base/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { SentReport } from "../exchange.ts";
import type { BodyMemory } from "./body-memory.ts";
import { decodeBody } from "./decode.ts";
import { holdsSecret, maskSecrets, maskText, type Searched, searchStart } from "./masking.ts";

export type Masked<C> = { readonly copy: C; readonly masked: boolean };

type WithBody = { readonly body: Uint8Array | null; readonly headers: Readonly<Record<string, string>> };

/** What must not be written down, and the body before, in which none of it stands. */
export type Wanted = { readonly forms: readonly string[]; readonly before: Searched | null };

/** The copy as it may be written down. A compressed body that holds a secret is not kept at all. */
export function withoutSecrets<C extends WithBody>(copy: C, { forms, before }: Wanted): Masked<C> {
  if (copy.body === null || forms.length === 0) return { copy, masked: false };
  const encoding = copy.headers["content-encoding"] ?? "";
  const isPlain = encoding === "" || encoding === "identity";
  const plain = isPlain ? copy.body : decodeBody(copy.body, encoding);
  const start = plain === null ? 0 : searchStart(plain, forms, before);
  if (plain === null || !holdsSecret(plain, forms, start)) return { copy, masked: false };
  // The memory belongs to others too, who must go on seeing what was sent: masking needs a copy.
  const body = isPlain ? new Uint8Array(plain) : null;
  if (body !== null) maskSecrets(body, forms);
  return { copy: { ...copy, body }, masked: true };
}

/** The report as it may be written down, its body in one piece, in memory of its own. */
export function cleanReport(
  report: SentReport,
  { forms, before }: Wanted,
  memory: BodyMemory,
): Masked<SentReport> {
  const body = memory.join(report.body);
  const isBodyMasked = maskSecrets(body, forms, searchStart(body, forms, before));
  const fresh = report.fresh.map((unit) => {
    const bytes = new Uint8Array(unit.bytes);
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
    const bytes = new Uint8Array(one.bytes);
    return maskSecrets(bytes, forms) ? { unit: { ...one.unit, hash: hashContent(bytes) }, bytes } : one;
  });
  const masked = units.some((one, at) => one !== answer.units[at]);
  return { answer: { ...answer, units, problem: clean(answer.problem), stop: clean(answer.stop) }, masked };
}
