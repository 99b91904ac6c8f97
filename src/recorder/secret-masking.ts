import { hashContent, secretPatterns } from "../base/index.ts";
import { decodeBody, type SentRequest } from "../exchange/index.ts";
import type { WireAnswer } from "../protocols/index.ts";
import { commonPrefixLength } from "../store/index.ts";
import type { BodyBufferPool } from "./body-buffer-pool.ts";

const MASK = 0x2a;
const secretLengthMin = 8;

/**
 * The forms in which a secret may occur in a body: plain, escaped for JSON, encoded for a URL, and for a
 * basic credential its decoded user and password.
 */
export function secretForms(secrets: readonly string[]): readonly string[] {
  const plain = secrets.flatMap((secret) => [secret, ...decodeBasic(secret)]);
  const forms = plain.flatMap((secret) => {
    const escaped = JSON.stringify(secret).slice(1, -1);
    return [secret, escaped, escaped.replaceAll("/", "\\/"), encodeURIComponent(secret)];
  });
  return [...new Set(forms)].filter(({ length }) => length >= secretLengthMin);
}

function decodeBasic(secret: string): readonly string[] {
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  if (!/^[\x20-\x7e]+:[\x20-\x7e]+$/.test(decoded)) return [];
  return [decoded, decoded.slice(decoded.indexOf(":") + 1)];
}

/** A body that contains none of these forms. */
export type SearchedBody = { readonly bytes: Uint8Array; readonly forms: readonly string[] };

/**
 * The offset from which a body must be searched. The part it shares with a searched body contains no secret,
 * but a secret may start there and end after it.
 */
export function searchStart(
  bytes: Uint8Array,
  forms: readonly string[],
  before: SearchedBody | null,
): number {
  if (before === null || forms.length === 0) return 0;
  if (!forms.every((form) => before.forms.includes(form))) return 0;
  const longest = Math.max(1, ...forms.map((form) => Buffer.byteLength(form)));
  return Math.max(0, commonPrefixLength(before.bytes, bytes) - (longest - 1));
}

export function holdsSecret(bytes: Uint8Array, forms: readonly string[], start: number): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return forms.some((form) => indexOfSecret(buffer, Buffer.from(form), start) !== -1);
}

/**
 * Replaces secrets by as many asterisks, in place; returns true if there were any. A credential belongs in
 * the headers of a request. If a body contains it too (a provider quotes a refused key, a client sends it
 * twice), the record of that body differs from the relayed one, and says so.
 */
export function maskSecrets(bytes: Uint8Array, forms: readonly string[], start = 0): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = false;
  for (const form of forms) {
    const wanted = Buffer.from(form);
    for (
      let at = indexOfSecret(buffer, wanted, start);
      at !== -1;
      at = indexOfSecret(buffer, wanted, at + wanted.length)
    ) {
      buffer.fill(MASK, at, at + wanted.length);
      found = true;
    }
  }
  return found;
}

export function maskText(text: string, forms: readonly string[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form, "*".repeat(form.length)), text);
}

function indexOfSecret(buffer: Buffer, wanted: Buffer, from: number): number {
  return wanted.length === 0 ? -1 : buffer.indexOf(wanted, from);
}

export type MaskedCopy<C> = { readonly copy: C; readonly isMasked: boolean };

type CopyWithBody = { readonly body: Uint8Array | null; readonly headers: Readonly<Record<string, string>> };

/** The secrets to search for, and the previous body, which contains none of them. */
export type SecretSearch = { readonly forms: readonly string[]; readonly before: SearchedBody | null };

/** Masks secrets in a copy. A compressed body with a secret is dropped. */
export function maskCopy<C extends CopyWithBody>(copy: C, { forms, before }: SecretSearch): MaskedCopy<C> {
  if (copy.body === null || forms.length === 0) return { copy, isMasked: false };
  const encoding = copy.headers["content-encoding"] ?? "";
  const isPlain = encoding === "" || encoding === "identity";
  const plain = isPlain ? copy.body : decodeBody(copy.body, encoding);
  const start = plain === null ? 0 : searchStart(plain, forms, before);
  if (plain === null || !holdsSecret(plain, forms, start)) return { copy, isMasked: false };
  // Other readers share this memory and must see the original bytes, so masking needs a copy.
  const body = isPlain ? new Uint8Array(plain) : null;
  if (body !== null) maskSecrets(body, forms);
  return { copy: { ...copy, body }, isMasked: true };
}

/** Masks secrets in a sent request, and joins its body in a buffer of its own. */
export function maskSentRequest(
  report: SentRequest,
  { forms, before }: SecretSearch,
  buffers: BodyBufferPool,
): MaskedCopy<SentRequest> {
  const body = buffers.join(report.body);
  const isBodyMasked = maskSecrets(body, forms, searchStart(body, forms, before));
  const fresh = report.fresh.map((unit) => {
    const bytes = new Uint8Array(unit.bytes);
    return { ...unit, key: maskText(unit.key, forms), bytes, isMasked: maskSecrets(bytes, forms) };
  });
  const isMasked = isBodyMasked || fresh.some((unit) => unit.isMasked);
  return { copy: { ...report, fresh, body: [body] }, isMasked };
}

type MaskedAnswer = { readonly answer: WireAnswer | null; readonly isMasked: boolean };

/** Masks secrets in an answer: one may be complete only after its pieces are joined. */
export function maskAnswer(answer: WireAnswer | null, forms: readonly string[]): MaskedAnswer {
  if (answer === null || forms.length === 0) return { answer, isMasked: false };
  const maskNullable = (text: string | null): string | null => (text === null ? null : maskText(text, forms));
  const units = answer.units.map((one) => {
    const bytes = new Uint8Array(one.bytes);
    return maskSecrets(bytes, forms) ? { unit: { ...one.unit, hash: hashContent(bytes) }, bytes } : one;
  });
  const isMasked = units.some((one, at) => one !== answer.units[at]);
  return {
    answer: { ...answer, units, problem: maskNullable(answer.problem), stop: maskNullable(answer.stop) },
    isMasked,
  };
}

const privateKey =
  /(?<=-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\n))[A-Za-z0-9+/=\\\n]{64,}?(?=(?:\\n|\n)-----END)/g;

/**
 * Every credential in a text, once, found by its form: a transcript has no headers that tell which words are
 * credentials.
 */
export function findSecrets(text: string): readonly string[] {
  return [...new Set([privateKey, ...secretPatterns].flatMap((form) => text.match(form) ?? []))];
}
