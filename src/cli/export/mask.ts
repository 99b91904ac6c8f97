import { secretShapes } from "../../base/index.ts";

/** What stands in the place of something that looks like a secret. */
export const maskText = "[masked]";

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** `Authorization: Bearer …`, and credentials in an address. */
const announced: readonly RegExp[] = [
  /\b((?:bearer|basic)\s+)[A-Za-z0-9+/._~-]{12,}=*/gi,
  /(:\/\/[^\s/:@"']{1,100}:)[^\s/@"']{3,}(?=@)/g,
];

/** `password = "…"`, `API_KEY: …`: a name that says so, and a value that is no plain word or number. */
const named =
  /((?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|auth[_-]?token|access[_-]?token|private[_-]?key)\\?["']?\s*[:=]\s*\\?["']?)(?=[^\s"'\\,;}]*\d)(?=[^\s"'\\,;}]*[A-Za-z])[^\s"'\\,;}]{8,}/gi;

export function masked(text: string): string {
  const plain = [privateKey, ...secretShapes].reduce((left, shape) => left.replace(shape, maskText), text);
  const told = announced.reduce((left, shape) => left.replace(shape, `$1${maskText}`), plain);
  return told.replace(named, `$1${maskText}`);
}

/** Every text in a value; names and numbers stay. */
export function maskedValue(value: unknown): unknown {
  if (typeof value === "string") return masked(value);
  if (Array.isArray(value)) return value.map(maskedValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskedValue(inner)]));
}
