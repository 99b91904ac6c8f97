import { gunzipSync } from "node:zlib";
import type { Recording } from "../../src/transcripts/index.ts";

/** The recording in a file, or the reason why it is none. */
export function parseRecording(bytes: Uint8Array): Recording | string {
  if (bytes.length === 0) return "the file is empty";
  const text = gunzipText(bytes);
  if (text === null) return "it is not gzip-compressed, or ends too early";
  const value = parseJson(text);
  if (value === undefined) return "it is not JSON";
  if (!isObject(value)) return "it is not a JSON object";
  const { format, id, turns, system = null } = value;
  const [streams, tools, models] = [value["streams"] ?? [], value["tools"] ?? [], value["models"] ?? []];
  if (format !== undefined && format !== form) return `its form is ${JSON.stringify(format)}, not ${form}`;
  if (!isListOf(tools, isText) || !isListOf(models, isText)) return "its tools or models are not names";
  if (system !== null && !isText(system)) return "its system prompt is not a text";
  if (!isListOf(streams, (one) => isObject(one) && Array.isArray(one["turns"])))
    return "its streams have no requests";
  if (!Array.isArray(turns) || turns.length === 0) return "it has no requests";
  const others = (streams as readonly { readonly turns: readonly unknown[] }[]).map((one) => one.turns);
  const problem = [turns, ...others].map(turnsProblem).find((one) => one !== null) ?? null;
  if (problem !== null) return problem;
  const read = { id: isText(id) ? id : "unnamed", tools, models, system, streams };
  // Every field that is used was checked above.
  return { ...value, ...read } as unknown as Recording;
}

const form = "replay/1";

function turnsProblem(turns: readonly unknown[]): string | null {
  const at = turns.findIndex((turn) => !isTurn(turn));
  return at === -1 ? null : `request ${at + 1} is not of the form {k?, c, a, m?}`;
}

function isTurn(turn: unknown): boolean {
  if (!isObject(turn)) return false;
  const { k, c, a, m } = turn;
  const isKept = isAbsent(k) || (Number.isInteger(k) && (k as number) >= 0);
  return isKept && isListOf(c, isMessage) && isListOf(a, isBlock) && (isAbsent(m) || isMeta(m));
}

function isMessage(message: unknown): boolean {
  if (!isObject(message) || !isText(message["role"])) return false;
  return isText(message["content"]) || isListOf(message["content"], isBlock);
}

function isBlock(block: unknown): boolean {
  return isObject(block) && isText(block["type"]);
}

function isMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false;
  const { model, t, usage } = meta;
  const isNamed = isAbsent(model) || isText(model);
  const isTimed = isAbsent(t) || isText(t);
  return isNamed && isTimed && (isAbsent(usage) || isUsage(usage));
}

function isUsage(usage: unknown): boolean {
  return isObject(usage) && ["in", "cr", "cw", "out"].every((field) => Number.isFinite(usage[field] ?? 0));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function gunzipText(bytes: Uint8Array): string | null {
  try {
    return gunzipSync(bytes).toString("utf8");
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, is: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
