import {
  type FrameHash,
  fail,
  frameHash,
  GENESIS_HASH,
  ok,
  type Result,
  type SessionId,
  seqOf,
  sessionId,
} from "../base/index.ts";
import { checkSeal, type Frame } from "../engine/frames/index.ts";
import { checkFramePosition } from "./batch-rules.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { decodeFrame, encodeFrame } from "./frame-codec.ts";
import { rowSum } from "./row-sum.ts";
import type { FrameRange, SessionHead } from "./store.ts";
import type { StoredSession } from "./table-cache.ts";

export type FrameRow = {
  readonly session: number;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly sum: number;
  readonly body: Uint8Array;
};

const SESSION_COLUMNS = "id, key, seq, hash, time, sum";

export function sessionSum(row: Omit<StoredSession, "sum">): number {
  return rowSum([row.id, row.key, row.seq, row.hash, row.time]);
}

function frameSum(row: Omit<FrameRow, "sum">): number {
  return rowSum([row.session, row.seq, row.hash, row.body]);
}

export function storedSession(db: Database, key: SessionId): StoredSession | null {
  const sql = `SELECT ${SESSION_COLUMNS} FROM sessions WHERE key = ?`;
  return (db.sql(sql).get(key) as unknown as StoredSession | undefined) ?? null;
}

export function storedSessions(db: Database): readonly StoredSession[] {
  return db.sql(`SELECT ${SESSION_COLUMNS} FROM sessions ORDER BY id`).all() as unknown as StoredSession[];
}

/** A session that has bodies but no frames yet has seq 0. */
export function ensureSession(db: Database, key: SessionId): StoredSession {
  const session = db.cache.sessions.get(key) ?? storedSession(db, key);
  if (session !== null) {
    db.cache.sessions.set(key, session);
    return session;
  }
  const newest = db.sql("SELECT max(id) AS id FROM sessions").get()?.["id"];
  const id = typeof newest === "number" ? newest + 1 : 1;
  const fresh = { id, key, seq: 0, hash: bytesFromHex(GENESIS_HASH), time: 0 };
  const row = { ...fresh, sum: sessionSum(fresh) };
  const sql = `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;
  writeStep("session-insert", () => db.sql(sql).run(row.id, row.key, row.seq, row.hash, row.time, row.sum));
  db.cache.sessions.set(key, row);
  return row;
}

/** Contract: called inside a transaction, for frames of one session in order. */
export function insertFrames(db: Database, frames: readonly Frame[]): Result<void> {
  const heads = new Map<SessionId, StoredSession>();
  for (const frame of frames) {
    const row = heads.get(frame.session) ?? ensureSession(db, frame.session);
    const placed = checkFramePosition(frame, {
      head: sessionHeadOf(row),
      hashAt: (seq) => hashAt(db, row.id, seq),
    });
    if (!placed.ok) return placed;
    if (placed.value === "present") continue;
    const next = insertFrame(db, row, frame);
    if (!next.ok) return next;
    heads.set(frame.session, next.value);
  }
  for (const [key, row] of heads) {
    const summed = { ...row, sum: sessionSum(row) };
    writeStep("session-update", () => updateSession(db, summed));
    db.cache.sessions.set(key, summed);
  }
  return ok(undefined);
}

function insertFrame(db: Database, row: StoredSession, frame: Frame): Result<StoredSession> {
  const body = encodeFrame(frame);
  if (!body.ok) return body;
  const hash = bytesFromHex(frame.hash);
  const stored = { session: row.id, seq: frame.seq, hash, body: body.value };
  const sql = "INSERT INTO frames (session, seq, hash, sum, body) VALUES (?, ?, ?, ?, ?)";
  writeStep("frame-insert", () => db.sql(sql).run(row.id, frame.seq, hash, frameSum(stored), body.value));
  return ok({ ...row, seq: frame.seq, hash, time: Math.trunc(frame.time) });
}

function updateSession(db: Database, row: StoredSession): void {
  const sql = "UPDATE sessions SET seq = ?, hash = ?, time = ?, sum = ? WHERE id = ?";
  db.sql(sql).run(row.seq, row.hash, row.time, row.sum, row.id);
}

function sessionHeadOf(row: StoredSession): SessionHead {
  return { session: sessionId(row.key), seq: seqOf(row.seq), hash: hashFromBytes(row.hash) };
}

export function hashAt(db: Database, session: number, seq: number): FrameHash | null {
  const row = db.sql("SELECT hash FROM frames WHERE session = ? AND seq = ?").get(session, seq);
  return row === undefined ? null : hashFromBytes(row["hash"] as Uint8Array);
}

export function readSessionHead(db: Database, session: SessionId): SessionHead | null {
  const row = storedSession(db, session);
  return row === null || row.seq === 0 ? null : sessionHeadOf(row);
}

export function readSessionHeads(db: Database): readonly SessionHead[] {
  return storedSessions(db)
    .filter((row) => row.seq > 0)
    .map(sessionHeadOf);
}

/** Checks the seal of every frame, and that each follows the one before. */
export function readFrames(db: Database, { session, after, limit }: FrameRange): Result<readonly Frame[]> {
  const row = storedSession(db, session);
  if (row === null) return ok([]);
  let prevHash = after === 0 ? GENESIS_HASH : hashAt(db, row.id, after);
  const frames: Frame[] = [];
  for (const stored of frameRows(db, { session: row.id, after, limit })) {
    const frame = readFrame(stored, { session, seq: frames.length + after + 1, prevHash });
    if (!frame.ok) return frame;
    prevHash = frame.value.hash;
    frames.push(frame.value);
  }
  return ok(frames);
}

export function frameRows(
  db: Database,
  { session, after, limit }: { readonly session: number; readonly after: number; readonly limit: number },
): FrameRow[] {
  const sql = `SELECT session, seq, hash, sum, body FROM frames WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`;
  return db.sql(sql).all(session, after, limit) as unknown as FrameRow[];
}

type ExpectedFrame = {
  readonly session: SessionId;
  readonly seq: number;
  readonly prevHash: FrameHash | null;
};

export function readFrame(row: FrameRow, { session, seq, prevHash }: ExpectedFrame): Result<Frame> {
  const damaged = (problem: string): Result<never> =>
    fail("AP_STORE_CORRUPT", { problem: `frame ${seq} of session ${session} ${problem}` });
  if (row.seq !== seq || prevHash === null) return damaged("is missing");
  if (frameSum(row) !== row.sum) return damaged("has a wrong checksum");
  const frame = decodeFrame(row.body, { session, seq: seqOf(seq), prevHash, hash: hashFromBytes(row.hash) });
  if (!frame.ok) return frame;
  return checkSeal(frame.value, prevHash).ok ? frame : damaged("does not match its hash");
}

export function bytesFromHex(hash: string): Uint8Array {
  return Buffer.from(hash, "hex");
}

function hashFromBytes(bytes: Uint8Array): FrameHash {
  return frameHash(Buffer.from(bytes).toString("hex"));
}
