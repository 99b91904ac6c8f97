import {
  type ContentHash,
  type FrameHash,
  fail,
  GENESIS_HASH,
  hashContent,
  isCount,
  limits,
  ok,
  type Result,
  sha256Hex,
} from "../base/index.ts";
import { checkSeal, type Frame, parseFrame } from "../engine/frames/index.ts";
import { checkBatchShape } from "./batch-shape.ts";
import { type BodyRef, pieceLength } from "./recipe.ts";
import type { Batch, Body, RecipePiece, SessionHead, Snapshot } from "./store.ts";

/** Checks that need only the batch itself. Every store makes them, whatever it keeps batches in. */
export function checkBatch(batch: Batch): Result<void> {
  const admitted = checkBatchShape(batch);
  if (!admitted.ok) return admitted;
  for (const { hash, bytes } of batch.contents ?? []) {
    if (bytes.length > limits.contentBytesMax) return tooLarge(bytes.length);
    if (hashContent(bytes) !== hash) return fail("AP_CONTENT_DAMAGED", { hash });
  }
  for (const frame of batch.frames ?? []) {
    const parsed = parseFrame(frame);
    if (!parsed.ok) return parsed;
    const sealed = checkSeal(frame, frame.prevHash);
    if (!sealed.ok) return sealed;
  }
  for (const snapshot of batch.snapshots ?? []) {
    if (!pagesMatch(snapshot)) return fail("AP_SNAPSHOT_DAMAGED", { seq: snapshot.seq });
  }
  return ok(undefined);
}

function tooLarge(bytes: number): Result<never> {
  return fail("AP_CONTENT_TOO_LARGE", { bytes, limit: limits.contentBytesMax });
}

function pagesMatch({ pages }: Snapshot): boolean {
  return [...pages].every(([name, bytes]) => pageMatches(name, bytes));
}

export function pageMatches(name: string, bytes: Uint8Array): boolean {
  return sha256Hex(bytes).startsWith(name);
}

export type FrameChain = { readonly head: SessionHead; readonly hashAt: (seq: number) => FrameHash | null };

/** A frame must continue the chain. A stored frame is accepted again, so that a batch may be sent twice. */
export function checkFramePosition(frame: Frame, { head, hashAt }: FrameChain): Result<"next" | "present"> {
  const { session, seq } = frame;
  if (seq >= 1 && seq <= head.seq) {
    return hashAt(seq) === frame.hash ? ok("present") : fail("AP_STORE_DIVERGED", { session, seq });
  }
  if (seq !== head.seq + 1) return fail("AP_STORE_GAP", { session, seq, expected: head.seq + 1 });
  const before = head.seq === 0 ? GENESIS_HASH : head.hash;
  return frame.prevHash === before ? ok("next") : fail("AP_STORE_GAP", { session, seq, expected: head.seq });
}

/** Only the newest snapshot is kept, so an older one that arrives late is ignored. */
export function checkSnapshotPosition(
  snapshot: Snapshot,
  {
    newest,
    hashAt,
    hasPage,
  }: Omit<FrameChain, "head"> & { readonly newest: number; readonly hasPage: (name: string) => boolean },
): Result<"next" | "passed"> {
  const { session, seq } = snapshot;
  if (hashAt(seq) !== snapshot.hash) return fail("AP_STORE_GAP", { session, seq, expected: seq });
  if (seq < newest) return ok("passed");
  const whole = snapshot.pageHashes.every((name) => snapshot.pages.has(name) || hasPage(name));
  return whole ? ok("next") : fail("AP_SNAPSHOT_DAMAGED", { seq });
}

export type SourceLengths = {
  readonly contentLength: (hash: ContentHash) => number | null;
  readonly bodyLength: (body: BodyRef) => number | null;
};

/** Every piece must lie inside a known source, and all together must have the length of the body. */
export function checkRecipe(body: Body, sources: SourceLengths): Result<void> {
  const { session, length, recipe } = body;
  const invalid = (problem: string): Result<never> => fail("AP_RECIPE_INVALID", { problem });
  if (length > limits.contentBytesMax) return tooLarge(length);
  if (recipe.length > limits.recipePiecesMax) return invalid(`it has ${recipe.length} pieces`);
  let total = 0;
  for (const piece of recipe) {
    const source = sourceLength(piece, sources);
    if (source === null) return unknownSource(piece, session);
    if (!isInside(piece, source)) return invalid("a piece lies outside of what it is a slice of");
    total += pieceLength(piece);
  }
  return total === length ? ok(undefined) : invalid(`its pieces have ${total} bytes, the body has ${length}`);
}

function sourceLength(piece: RecipePiece, sources: SourceLengths): number | null {
  switch (piece.from) {
    case "literal":
      return piece.bytes.length;
    case "content":
      return sources.contentLength(piece.content);
    case "body":
      return sources.bodyLength(piece);
  }
}

function unknownSource(piece: RecipePiece, session: string): Result<never> {
  if (piece.from === "content") return fail("AP_CONTENT_UNKNOWN", { hash: piece.content });
  if (piece.from === "body")
    return fail("AP_BODY_UNKNOWN", { session, exchange: piece.exchange, side: piece.side });
  return fail("AP_RECIPE_INVALID", { problem: "a literal has no bytes" });
}

function isInside(piece: RecipePiece, source: number): boolean {
  if (piece.from === "literal") return true;
  return isCount(piece.start) && isCount(piece.length) && piece.start + piece.length <= source;
}
