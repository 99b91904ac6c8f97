import { demoModelName } from "../testing/index.ts";
import { framingOf, type Head, headerOf } from "./headers.ts";
import type { Route } from "./routes.ts";

/** The body may name the demo model, so it has to be scanned before it is sent anywhere. */
export function mayNameModel(route: Route, head: Head): boolean {
  if (route.protocol === null || route.protocol === "gemini" || route.protocol === "bedrock") return false;
  return framingOf(head) !== "none" && headerOf(head, "content-encoding") === undefined;
}

/** A body that has not named its model within this many bytes is relayed. */
const scanBytesMax = 1024 * 1024;

/** The last characters of a body that was scanned for the name of its model. */
export type ModelScan = { readonly tail: string };

export const unscanned: ModelScan = { tail: "" };

/** Scans the next chunk; the body has `length` bytes by now. One that cannot be scanned is another's. */
export function scanModel({ tail }: ModelScan, chunk: Buffer, length: number): ModelScan | "other model" {
  const text = tail + chunk.toString("latin1");
  const isFirst = length === chunk.length;
  if (length > scanBytesMax || (isFirst && !/^\s*(?:\{|$)/.test(text.slice(0, 64)))) return "other model";
  const named = modelPattern.exec(text)?.[1];
  return named !== undefined && named !== demoModelName ? "other model" : { tail: text.slice(-tailChars) };
}

/** Kept from the chunk before, to find a name that lies across two chunks. */
const tailChars = 200;

/** Does not match inside strings, where the quotes would be escaped. */
const modelPattern = /(?<!\\)"model"\s*:\s*"([^"\\]*)"/;
const demoNameBytes = Buffer.from(`"${demoModelName}"`);

/** Most clients name the model first, and searching a whole large body takes a millisecond. */
const headBytes = 4_096;

/** The whole body names the demo model. It is parsed only if it contains the name. */
export function isDemoBody(chunks: readonly Buffer[]): boolean {
  const named = modelPattern.exec(chunks[0]?.toString("latin1", 0, headBytes) ?? "")?.[1];
  if (named === undefined ? !containsDemoName(chunks) : named !== demoModelName) return false;
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof body === "object" && body !== null && "model" in body && body.model === demoModelName;
  } catch {
    return false;
  }
}

/** Also finds a name that lies across two chunks. */
function containsDemoName(chunks: readonly Buffer[]): boolean {
  let before: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    if (chunk.includes(demoNameBytes)) return true;
    if (Buffer.concat([before, chunk.subarray(0, demoNameBytes.length)]).includes(demoNameBytes)) return true;
    before = chunk.subarray(-demoNameBytes.length);
  }
  return false;
}
