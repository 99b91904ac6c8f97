import {
  type ContentHash,
  type FrameHash,
  fail,
  GENESIS_HASH,
  limits,
  must,
  ok,
  type Result,
  type SessionId,
  seqOf,
  sha256Hex,
  unwrap,
} from "../base/index.ts";
import { deltaContents, type Frame } from "../engine/frames/index.ts";
import { checkBatch, checkFramePosition, checkRecipe, checkSnapshotPosition } from "./batch-rules.ts";
import { type BodyRef, mergePieces, type PieceOf, type RecipeLeaf } from "./recipe.ts";
import {
  type ExpandedRecipe,
  expandRecipe,
  type IndexedRecipe,
  indexRecipe,
  stepsAtMost,
} from "./recipe-expand.ts";
import {
  type Batch,
  type Body,
  type BodyKey,
  type BodyRow,
  exchangeSides,
  type HashedContent,
  type SessionHead,
  type Snapshot,
} from "./store.ts";

/** Plain data throughout: a backup serialises it as it is, so its field names are a stored format. */
export type MemoryState = {
  readonly contents: Map<ContentHash, MemoryContent>;
  readonly sessions: Map<SessionId, MemorySession>;
};
export type MemoryContent = { readonly length: number; readonly bytes: Uint8Array | null };
export type MemorySession = {
  readonly frames: Frame[];
  readonly bodies: Map<string, MemoryBody>;
  snapshot: Snapshot | null;
};
export type MemoryBody = {
  readonly row: BodyRow;
  readonly recipe: IndexedRecipe<ContentHash>;
  readonly depth: number;
  readonly leaves: number;
};

type UndoList = (() => void)[];

export function emptyMemory(): MemoryState {
  return { contents: new Map(), sessions: new Map() };
}

/** Applies all of a batch or nothing: changes made before a refusal are reverted. */
export function applyBatch(state: MemoryState, batch: Batch): Result<void> {
  const undo: UndoList = [];
  const result = tryBatch(state, batch, undo);
  if (!result.ok) for (const revert of undo.reverse()) revert();
  return result;
}

function tryBatch(state: MemoryState, batch: Batch, undo: UndoList): Result<void> {
  try {
    return writeBatch(state, batch, undo);
  } catch (error) {
    return fail("AP_STORE_IO", { problem: error instanceof Error ? error.message : String(error) });
  }
}

function writeBatch(state: MemoryState, batch: Batch, undo: UndoList): Result<void> {
  const checked = checkBatch(batch);
  if (!checked.ok) return checked;
  for (const content of batch.contents ?? []) addContent(state, content, undo);
  const steps = [
    ...(batch.frames ?? []).map((frame) => () => addFrame(state, frame, undo)),
    ...(batch.bodies ?? []).map((body) => () => addBody(state, body, undo)),
    ...(batch.snapshots ?? []).map((snapshot) => () => addSnapshot(state, snapshot, undo)),
  ];
  for (const step of steps) {
    const result = step();
    if (!result.ok) return result;
  }
  return ok(undefined);
}

function addContent({ contents }: MemoryState, { hash, bytes }: HashedContent, undo: UndoList): void {
  if (contents.has(hash)) return;
  contents.set(hash, { length: bytes.length, bytes });
  undo.push(() => contents.delete(hash));
}

function addFrame(state: MemoryState, frame: Frame, undo: UndoList): Result<void> {
  const { frames } = ensureSession(state, frame.session, undo);
  const head = memoryHead(frame.session, frames);
  const placed = checkFramePosition(frame, { head, hashAt: (seq) => hashAt(frames, seq) });
  if (!placed.ok) return placed;
  if (placed.value === "present") return ok(undefined);
  frames.push(frame);
  undo.push(() => frames.pop());
  return ok(undefined);
}

function addBody(state: MemoryState, body: Body, undo: UndoList): Result<void> {
  const { bodies } = ensureSession(state, body.session, undo);
  const { session, exchange, side, hash, length } = body;
  const checked = checkRecipe(body, {
    contentLength: (content) => state.contents.get(content)?.length ?? null,
    bodyLength: (source) => bodies.get(memoryBodyKey(source))?.row.length ?? null,
  });
  if (!checked.ok) return checked;
  const key = memoryBodyKey(body);
  const present = bodies.get(key);
  if (present !== undefined) {
    return present.row.hash === hash ? ok(undefined) : fail("AP_BODY_EXISTS", { session, exchange, side });
  }
  const row = { session, exchange, side, hash, length };
  const plan = planRecipe(bodies, mergePieces(body.recipe));
  if (!plan.ok) return plan;
  bodies.set(key, { row, ...plan.value });
  undo.push(() => bodies.delete(key));
  return ok(undefined);
}

function planRecipe(
  bodies: MemorySession["bodies"],
  pieces: readonly PieceOf<ContentHash>[],
): Result<Omit<MemoryBody, "row">> {
  const depths = pieces.map((piece) => (piece.from === "body" ? 1 + bodyIn(bodies, piece).depth : 0));
  const depth = depths.reduce((a, b) => Math.max(a, b), 0);
  const leaves = stepsAtMost(pieces, (ref) => bodyIn(bodies, ref));
  if (depth <= limits.recipeChainMax && leaves <= limits.recipeLeavesMax)
    return ok({ recipe: indexRecipe(pieces), depth, leaves });
  const expanded = expandIn(bodies, pieces);
  if (!expanded.ok) return expanded;
  if (depth <= limits.recipeChainMax)
    return ok({ recipe: indexRecipe(pieces), depth, leaves: expanded.value.steps });
  const flat = mergePieces(expanded.value.leaves);
  return ok({ recipe: indexRecipe(flat), depth: 0, leaves: flat.length });
}

function addSnapshot(state: MemoryState, snapshot: Snapshot, undo: UndoList): Result<void> {
  const session = ensureSession(state, snapshot.session, undo);
  const before = session.snapshot;
  const placed = checkSnapshotPosition(snapshot, {
    newest: before?.seq ?? 0,
    hashAt: (seq) => hashAt(session.frames, seq),
    hasPage: (name) => before?.pages.has(name) ?? false,
  });
  if (!placed.ok) return placed;
  if (placed.value === "passed") return ok(undefined);
  const pageOf = (name: string): Uint8Array =>
    must(snapshot.pages.get(name) ?? before?.pages.get(name), "checked");
  const pageHashes = [...new Set(snapshot.pageHashes)];
  session.snapshot = {
    ...snapshot,
    pageHashes,
    pages: new Map(pageHashes.map((name) => [name, pageOf(name)])),
  };
  undo.push(() => {
    session.snapshot = before;
  });
  return ok(undefined);
}

function ensureSession({ sessions }: MemoryState, id: SessionId, undo: UndoList): MemorySession {
  const session = sessions.get(id);
  if (session !== undefined) return session;
  const fresh: MemorySession = { frames: [], bodies: new Map(), snapshot: null };
  sessions.set(id, fresh);
  undo.push(() => sessions.delete(id));
  return fresh;
}

export function memoryHead(session: SessionId, frames: readonly Frame[]): SessionHead {
  const last = frames.at(-1);
  return { session, seq: last?.seq ?? seqOf(0), hash: last?.hash ?? GENESIS_HASH };
}

function hashAt(frames: readonly Frame[], seq: number): FrameHash | null {
  return frames[seq - 1]?.hash ?? null;
}

function memoryBodyKey({ exchange, side }: BodyRef): string {
  return `${exchange} ${side}`;
}

function bodyIn(bodies: MemorySession["bodies"], ref: BodyRef): MemoryBody {
  return must(bodies.get(memoryBodyKey(ref)), "a recipe was checked before it was stored");
}

/** Contract: the recipe belongs to a stored body, whose steps were counted when it was stored. */
export function leavesOf(
  bodies: MemorySession["bodies"],
  pieces: readonly PieceOf<ContentHash>[],
): readonly RecipeLeaf<ContentHash>[] {
  return unwrap(expandIn(bodies, pieces)).leaves;
}

function expandIn(
  bodies: MemorySession["bodies"],
  pieces: readonly PieceOf<ContentHash>[],
): Result<ExpandedRecipe<ContentHash>> {
  return expandRecipe(pieces, (ref) => bodyIn(bodies, ref).recipe);
}

export function readMemoryContent({ contents }: MemoryState, hash: ContentHash): Result<Uint8Array> {
  const content = contents.get(hash);
  if (content === undefined) return fail("AP_CONTENT_UNKNOWN", { hash });
  return content.bytes === null ? fail("AP_CONTENT_PURGED", { hash }) : ok(new Uint8Array(content.bytes));
}

export function readMemoryBody(state: MemoryState, { session, exchange, side }: BodyKey): Result<Uint8Array> {
  const bodies = state.sessions.get(session)?.bodies;
  const body = bodies?.get(memoryBodyKey({ exchange, side }));
  if (bodies === undefined || body === undefined) return fail("AP_BODY_UNKNOWN", { session, exchange, side });
  const parts: Uint8Array[] = [];
  for (const leaf of leavesOf(bodies, body.recipe.pieces)) {
    const source = leaf.from === "literal" ? ok(leaf.bytes) : readMemoryContent(state, leaf.content);
    if (!source.ok) return source;
    parts.push(
      leaf.from === "literal" ? source.value : source.value.subarray(leaf.start, leaf.start + leaf.length),
    );
  }
  const whole = new Uint8Array(Buffer.concat(parts));
  return sha256Hex(whole) === body.row.hash ? ok(whole) : fail("AP_BODY_DAMAGED", { exchange, side });
}

export function bodyRows(session: MemorySession | undefined): readonly BodyRow[] {
  const rows = [...(session?.bodies.values() ?? [])].map(({ row }) => row);
  return rows.sort(
    (a, b) => a.exchange - b.exchange || exchangeSides.indexOf(a.side) - exchangeSides.indexOf(b.side),
  );
}

/** Every content that a frame or a body names. */
export function namedContents({ sessions }: MemoryState): ReadonlySet<ContentHash> {
  const named = new Set<ContentHash>();
  for (const { frames, bodies } of sessions.values()) {
    for (const hash of frames.flatMap((frame) => frame.deltas.flatMap(deltaContents))) named.add(hash);
    for (const piece of [...bodies.values()].flatMap(({ recipe }) => recipe.pieces)) {
      if (piece.from === "content") named.add(piece.content);
    }
  }
  return named;
}
