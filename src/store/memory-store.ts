import { readFileSync, statSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import {
  type ContentHash,
  fail,
  GENESIS_HASH,
  ok,
  type Result,
  type SessionId,
  sha256Hex,
} from "../base/index.ts";
import { checkSeal, type Frame } from "../engine/frames/index.ts";
import { copyBatch } from "./batch-copy.ts";
import { pageMatches } from "./batch-rules.ts";
import { checkBatchShape } from "./batch-shape.ts";
import { faultOf } from "./database-faults.ts";
import {
  applyBatch,
  bodyRows,
  emptyMemory,
  leavesOf,
  type MemorySession,
  type MemoryState,
  memoryHead,
  namedContents,
  readMemoryBody,
  readMemoryContent,
} from "./memory-state.ts";
import type {
  AppendResult,
  BackupReport,
  Batch,
  Damage,
  DropReport,
  FrameRange,
  GcReport,
  PurgeReport,
  SessionHead,
  Snapshot,
  Store,
  VerifyReport,
} from "./store.ts";
import { TAIL_FRAMES } from "./verify-job.ts";

export type MemoryStoreOptions = {
  /** A file that `backup` of a memory store wrote. */
  readonly from?: string;
};

/**
 * A store that ends with its process. Everything is copied in and out, so no caller can change stored data.
 */
export function openMemoryStore({ from }: MemoryStoreOptions = {}): Store {
  const state = from === undefined ? emptyMemory() : (deserialize(readFileSync(from)) as MemoryState);
  let closed = false;
  const when = <T>(act: () => Result<T>): Promise<Result<T>> =>
    Promise.resolve(closed ? fail("AP_STORE_CLOSED") : attempt(act));
  return {
    append: (batch) =>
      closed ? { accepted: false, refused: fail("AP_STORE_CLOSED") } : append(state, batch),
    sessions: () => when(() => ok(heads(state))),
    head: (session) => when(() => ok(heads(state).find((head) => head.session === session) ?? null)),
    frames: (range) => when(() => ok(readFrames(state, range))),
    content: (hash) => when(() => readMemoryContent(state, hash)),
    body: (key) => when(() => readMemoryBody(state, key)),
    bodies: (session) => when(() => ok(structuredClone(bodyRows(state.sessions.get(session))))),
    snapshot: (session) => when(() => ok(structuredClone(state.sessions.get(session)?.snapshot ?? null))),
    verify: (scope) => when(() => ok(verify(state, scope))),
    gc: () => when(() => ok(collectGarbage(state))),
    backup: (path) => when(() => backUp(state, path)),
    purge: (hashes) => when(() => ok(purge(state, hashes))),
    drop: (session) => when(() => ok(drop(state, session))),
    status: () => ({ storage: "ok", code: null, message: null, waitingFrames: 0, waitingBytes: 0 }),
    watch: () => () => undefined,
    flush: () => Promise.resolve(),
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
}

function append(state: MemoryState, batch: Batch): AppendResult {
  const copied = ownCopy(batch);
  if (!copied.ok) return { accepted: false, refused: copied };
  return { accepted: true, durable: Promise.resolve(applyBatch(state, copied.value)) };
}

function ownCopy(batch: Batch): Result<Batch> {
  const admitted = checkBatchShape(batch);
  if (!admitted.ok) return admitted;
  try {
    return ok(copyBatch({ ...batch, frames: structuredClone(batch.frames ?? []) }).batch);
  } catch (error) {
    return fail("AP_BATCH_INVALID", { problem: error instanceof Error ? error.message : String(error) });
  }
}

/** An invalid query gets an error as its answer; nothing is thrown. */
function attempt<T>(act: () => Result<T>): Result<T> {
  try {
    return act();
  } catch (error) {
    return { ok: false, error: faultOf(error, "").error };
  }
}

function readFrames({ sessions }: MemoryState, { session, after, limit }: FrameRange): readonly Frame[] {
  return structuredClone(sessions.get(session)?.frames.slice(after, after + limit) ?? []);
}

function heads({ sessions }: MemoryState): readonly SessionHead[] {
  const started = [...sessions].filter(([, { frames }]) => frames.length > 0);
  return started.map(([session, { frames }]) => memoryHead(session, frames));
}

function backUp(state: MemoryState, path: string): Result<BackupReport> {
  try {
    writeFileSync(path, serialize(state), { flag: "wx", mode: 0o600 });
    return ok({ path, bytes: statSync(path).size });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      return fail("AP_BACKUP_EXISTS", { path });
    return { ok: false, error: faultOf(error, path).error };
  }
}

function collectGarbage(state: MemoryState): GcReport {
  const named = namedContents(state);
  let [contents, freedBytes] = [0, 0];
  for (const [hash, { bytes }] of state.contents) {
    if (bytes === null || named.has(hash)) continue;
    state.contents.delete(hash);
    contents += 1;
    freedBytes += bytes.length;
  }
  return { contents, pages: 0, freedBytes };
}

function purge({ contents, sessions }: MemoryState, hashes: readonly ContentHash[]): PurgeReport {
  const erased = new Set(hashes.filter((hash) => (contents.get(hash)?.bytes ?? null) !== null));
  for (const hash of erased) contents.set(hash, { length: contents.get(hash)?.length ?? 0, bytes: null });
  const holders = [...sessions.values()].flatMap(({ bodies }) =>
    [...bodies.values()].filter(({ recipe }) =>
      leavesOf(bodies, recipe.pieces).some((leaf) => leaf.from === "content" && erased.has(leaf.content)),
    ),
  );
  return { contents: erased.size, bodies: erased.size === 0 ? 0 : holders.length };
}

function drop(state: MemoryState, id: SessionId): DropReport {
  const session = state.sessions.get(id);
  state.sessions.delete(id);
  const { contents, freedBytes } =
    session === undefined ? { contents: 0, freedBytes: 0 } : collectGarbage(state);
  return { frames: session?.frames.length ?? 0, bodies: session?.bodies.size ?? 0, contents, freedBytes };
}

function verify(state: MemoryState, scope: "tail" | "all"): VerifyReport {
  const damage: Damage[] = [];
  const tally = { sessions: state.sessions.size, frames: 0, contents: 0, bodies: 0, pages: 0 };
  for (const [id, session] of state.sessions) {
    const after = scope === "all" ? 0 : Math.max(0, session.frames.length - TAIL_FRAMES);
    tally.frames += session.frames.length - after;
    damage.push(...frameDamage(id, session, after));
    if (scope === "tail") continue;
    tally.bodies += session.bodies.size;
    damage.push(...bodyDamage(state, session), ...pageDamage(session.snapshot));
    tally.pages += session.snapshot?.pages.size ?? 0;
  }
  if (scope === "all") tally.contents = state.contents.size;
  return { scope, ...tally, damage: [...damage, ...(scope === "all" ? contentDamage(state) : [])] };
}

function frameDamage(id: SessionId, { frames }: MemorySession, after: number): readonly Damage[] {
  const chained = frames.slice(after).every((frame, at) => {
    const before = frames[after + at - 1]?.hash ?? GENESIS_HASH;
    return frame.seq === after + at + 1 && checkSeal(frame, before).ok;
  });
  return chained ? [] : [{ where: `session ${id}`, problem: "its chain of frames is broken" }];
}

function contentDamage({ contents }: MemoryState): readonly Damage[] {
  const bad = [...contents].filter(([hash, { bytes }]) => bytes !== null && sha256Hex(bytes) !== hash);
  return bad.map(([hash]) => ({ where: `content ${hash}`, problem: "does not match its hash" }));
}

function bodyDamage(state: MemoryState, { bodies }: MemorySession): readonly Damage[] {
  return [...bodies.values()].flatMap(({ row }) => {
    const body = readMemoryBody(state, row);
    if (body.ok || body.error.code === "AP_CONTENT_PURGED") return [];
    return [{ where: `${row.side} body of exchange ${row.exchange}`, problem: body.error.message }];
  });
}

function pageDamage(snapshot: Snapshot | null): readonly Damage[] {
  const bad = [...(snapshot?.pages ?? [])].filter(([name, bytes]) => !pageMatches(name, bytes));
  return bad.map(([name]) => ({ where: `page ${name}`, problem: "does not match its name" }));
}
