import { secretShapes } from "../../base/index.ts";

const privateKey =
  /(?<=-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\n))[A-Za-z0-9+/=\\\n]{64,}?(?=(?:\\n|\n)-----END)/g;

/**
 * Every credential in a text, once. A transcript does not say which of its words are one, as the headers of a
 * request do, so they are known by their looks.
 */
export function secretsIn(text: string): readonly string[] {
  return [...new Set([privateKey, ...secretShapes].flatMap((form) => text.match(form) ?? []))];
}
