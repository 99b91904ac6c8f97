import { fail, isCount, isHash, isSessionId, limits, ok, type Result } from "../base/index.ts";
import { type Batch, exchangeSides } from "./store.ts";

/**
 * Checks that a value is a batch at all. The types promise it, but a single bad row would break every later
 * read. Bytes, hashes and frames are checked later, away from the caller's thread.
 */
export function checkBatchShape(value: unknown): Result<Batch> {
  try {
    const problem = batchProblem(value);
    return problem === null ? ok(value as Batch) : invalid(problem);
  } catch (error) {
    // Reading a value may throw (a getter, a proxy): the batch is refused, and the caller need not catch it.
    return invalid(error instanceof Error ? error.message : "it cannot be looked at");
  }
}

function invalid(problem: string): Result<never> {
  return fail("AP_BATCH_INVALID", { problem });
}

/** Null if the item is valid, else the problem. */
type ItemCheck = (value: ItemFields) => string | null;
type ItemFields = Readonly<Record<string, unknown>>;

function batchProblem(value: unknown): string | null {
  if (!isObject(value)) return "it is not an object";
  const lists: readonly (readonly [string, ItemCheck])[] = [
    ["contents", contentProblem],
    ["frames", frameProblem],
    ["bodies", bodyProblem],
    ["snapshots", snapshotProblem],
  ];
  for (const [name, check] of lists) {
    const problem = listProblem(value[name] ?? [], check);
    if (problem !== null) return `${name}${problem}`;
  }
  return null;
}

function listProblem(list: unknown, check: ItemCheck): string | null {
  if (!Array.isArray(list)) return " is not a list";
  for (let at = 0; at < list.length; at++) {
    const item: unknown = list[at];
    const problem = isObject(item) ? check(item) : "is not an object";
    if (problem !== null) return `[${at}] ${problem}`;
  }
  return null;
}

function contentProblem({ hash, bytes }: ItemFields): string | null {
  if (!isHash(hash)) return "has no hash";
  return isBytes(bytes) ? null : "has no bytes";
}

/** The engine's `parseFrame` checks the rest of a frame. */
function frameProblem({ deltas }: ItemFields): string | null {
  return Array.isArray(deltas) ? null : "has no deltas";
}

function bodyProblem(body: ItemFields): string | null {
  if (!isSessionId(body["session"])) return "has no session id";
  if (!isCount(body["exchange"])) return "has an exchange that is not a whole number from 0";
  if (!isSide(body["side"])) return "is of no known side";
  if (!isHash(body["hash"])) return "has no hash";
  if (!isCount(body["length"])) return "has a length that is not a whole number from 0";
  const problem = listProblem(body["recipe"], pieceProblem);
  return problem === null ? null : `has a recipe that is wrong: recipe${problem}`;
}

/** `checkRecipe` checks the numbers, together with the source of the piece. */
function pieceProblem(piece: ItemFields): string | null {
  switch (piece["from"]) {
    case "literal":
      return isBytes(piece["bytes"]) ? null : "has no bytes";
    case "content":
      return isHash(piece["content"]) ? null : "has no hash";
    case "body":
      return isCount(piece["exchange"]) && isSide(piece["side"]) ? null : "names no body";
    default:
      return "is of no known kind";
  }
}

function snapshotProblem({ session, seq, hash, root, pageHashes, pages }: ItemFields): string | null {
  if (!isSessionId(session)) return "has no session id";
  if (!isCount(seq) || seq === 0) return "has a seq that is not a whole number from 1";
  if (!isHash(hash)) return "has no hash";
  if (typeof root !== "string" || root === "") return "has no root";
  if (root.length > limits.contentBytesMax) return "has a root that is too large";
  if (!Array.isArray(pageHashes) || !pageHashes.every(isPageName)) return "has page hashes that are not hex";
  if (!(pages instanceof Map)) return "has no pages";
  return [...pages].every(([name, bytes]) => isPageName(name) && isPage(bytes))
    ? null
    : "has a page that is none";
}

/** A page is named by its SHA-256 in hex, or by the first half of it. */
function isPageName(name: unknown): name is string {
  return typeof name === "string" && /^[0-9a-f]{32}([0-9a-f]{32})?$/.test(name);
}

function isPage(bytes: unknown): boolean {
  return isBytes(bytes) && bytes.length <= limits.contentBytesMax;
}

function isSide(value: unknown): boolean {
  return (exchangeSides as readonly unknown[]).includes(value);
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function isObject(value: unknown): value is ItemFields {
  return typeof value === "object" && value !== null;
}
