import { commonPrefixLength } from "../../store/index.ts";

const MASK = 0x2a;
const secretLengthMin = 8;

/**
 * The ways in which a credential may turn up in a body: as it is, escaped as in JSON, encoded as in a URL;
 * and what a basic credential stands for, its password above all.
 */
export function secretForms(secrets: readonly string[]): readonly string[] {
  const plain = secrets.flatMap((secret) => [secret, ...unpacked(secret)]);
  const forms = plain.flatMap((secret) => {
    const escaped = JSON.stringify(secret).slice(1, -1);
    return [secret, escaped, escaped.replaceAll("/", "\\/"), encodeURIComponent(secret)];
  });
  return [...new Set(forms)].filter(({ length }) => length >= secretLengthMin);
}

function unpacked(secret: string): readonly string[] {
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(secret)) return [];
  const pair = Buffer.from(secret, "base64").toString("utf8");
  if (!/^[\x20-\x7e]+:[\x20-\x7e]+$/.test(pair)) return [];
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** A body that holds none of these forms. */
export type Searched = { readonly bytes: Uint8Array; readonly forms: readonly string[] };

/**
 * From where on a body has to be searched. What it shares with one that was searched holds no secret, but one
 * may begin there and end behind it.
 */
export function searchStart(bytes: Uint8Array, forms: readonly string[], before: Searched | null): number {
  if (before === null || forms.length === 0) return 0;
  if (!forms.every((form) => before.forms.includes(form))) return 0;
  const longest = Math.max(1, ...forms.map((form) => Buffer.byteLength(form)));
  return Math.max(0, commonPrefixLength(before.bytes, bytes) - (longest - 1));
}

export function holdsSecret(bytes: Uint8Array, forms: readonly string[], start: number): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return forms.some((form) => find(buffer, Buffer.from(form), start) !== -1);
}

/**
 * Replaces secrets by as many asterisks, in place. A credential belongs to a request's headers; where it also
 * stands in a body (a provider that quotes the key it refused, a client that sends it twice) the record of
 * that body differs from what was relayed, and says so.
 */
export function maskSecrets(bytes: Uint8Array, forms: readonly string[], start = 0): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = false;
  for (const form of forms) {
    const wanted = Buffer.from(form);
    for (let at = find(buffer, wanted, start); at !== -1; at = find(buffer, wanted, at + wanted.length)) {
      buffer.fill(MASK, at, at + wanted.length);
      found = true;
    }
  }
  return found;
}

export function maskText(text: string, forms: readonly string[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form, "*".repeat(form.length)), text);
}

function find(buffer: Buffer, wanted: Buffer, from: number): number {
  return wanted.length === 0 ? -1 : buffer.indexOf(wanted, from);
}
