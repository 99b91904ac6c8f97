import { secretPatterns } from "../../base/index.ts";

/** The text that replaces a secret. */
export const maskLabel = "[masked]";

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** `Authorization: Bearer …`, and credentials in an address. */
const announced: readonly RegExp[] = [
  /\b((?:bearer|basic)\s+)[A-Za-z0-9+/._~-]{12,}=*/gi,
  /(:\/\/[^\s/:@"']{1,100}:)[^\s/@"']{3,}(?=@)/g,
];

/** `password = "…"`, `API_KEY: …`: a telling name, and a value that is not a plain word or number. */
const named =
  /((?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|auth[_-]?token|access[_-]?token|private[_-]?key)\\?["']?\s*[:=]\s*\\?["']?)(?=[^\s"'\\,;}]*\d)(?=[^\s"'\\,;}]*[A-Za-z])[^\s"'\\,;}]{8,}/gi;

export function maskSecretText(text: string): string {
  const plain = [privateKey, ...secretPatterns].reduce((left, shape) => left.replace(shape, maskLabel), text);
  const withoutAnnounced = announced.reduce((left, shape) => left.replace(shape, `$1${maskLabel}`), plain);
  return withoutAnnounced.replace(named, `$1${maskLabel}`);
}

/** Masks every text in a value. Names and numbers stay. */
export function maskValue(value: unknown): unknown {
  if (typeof value === "string") return maskSecretText(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskValue(inner)]));
}
