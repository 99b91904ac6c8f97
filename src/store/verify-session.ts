import { type FrameHash, GENESIS_HASH, must, sessionId } from "../base/index.ts";
import { bodyKeys, bodyRow, recipeOfRow, restoreBody, type StoredBody } from "./body-table.ts";
import { frameRows, hashAt, readFrame, sessionSum } from "./frame-table.ts";
import { unpackBytes } from "./packed-bytes.ts";
import {
  pageNamesIn,
  pageRows,
  readPage,
  type SnapshotRow,
  snapshotRow,
  snapshotSum,
} from "./snapshot-table.ts";
import { exchangeSides } from "./store.ts";
import type { StoredSession } from "./table-cache.ts";
import { reportDamage, type Verification } from "./verification.ts";

const CHUNK_ROWS = 64;

/** Checks the chain of frames from `after` on, and that it ends with the head of the session. */
export function* checkFrames(check: Verification, row: StoredSession, after: number): Generator<void> {
  const where = `session ${row.key}`;
  check.tally.sessions += 1;
  if (sessionSum(row) !== row.sum) reportDamage(check, where, "has a wrong checksum");
  let last = { seq: after, hash: after === 0 ? GENESIS_HASH : hashAt(check.db, row.id, after), time: 0 };
  for (;;) {
    const rows = frameRows(check.db, { session: row.id, after: last.seq, limit: CHUNK_ROWS });
    for (const stored of rows) {
      const expected = { session: sessionId(row.key), seq: last.seq + 1, prevHash: last.hash };
      const frame = readFrame(stored, expected);
      if (!frame.ok) reportDamage(check, where, frame.error.message);
      const time = frame.ok ? Math.trunc(frame.value.time) : row.time;
      last = { seq: stored.seq, hash: hexOf(stored.hash) as FrameHash, time };
    }
    check.tally.frames += rows.length;
    if (rows.length === 0) break;
    yield;
  }
  const ends = last.seq === row.seq && last.hash === hexOf(row.hash) && last.time === row.time;
  if (!ends) reportDamage(check, where, "does not end with its last frame");
}

export function* checkBodies(check: Verification, session: StoredSession): Generator<void> {
  for (const key of bodyKeys(check.db, session.id)) {
    checkBody(check, session, must(bodyRow(check.db, key), "it was there a moment ago"));
    check.tally.bodies += 1;
    yield;
  }
}

function checkBody(check: Verification, session: StoredSession, row: StoredBody): void {
  const side = exchangeSides[row.side];
  const where = `${side ?? "unknown"} body of exchange ${row.exchange} of session ${session.key}`;
  if (side === undefined) reportDamage(check, where, "is of no known side");
  const body = restoreBody(check.db, row);
  if (!body.ok && body.error.code !== "AP_CONTENT_PURGED") reportDamage(check, where, body.error.message);
  else if (!restsOnLess(check, row)) reportDamage(check, where, "rests on more copies than it says");
}

function restsOnLess({ db }: Verification, row: StoredBody): boolean {
  const pieces = recipeOfRow(row);
  if (!pieces.ok) return false;
  return pieces.value.every((piece) => {
    if (piece.from !== "body") return true;
    const source = bodyRow(db, {
      session: row.session,
      exchange: piece.exchange,
      side: exchangeSides.indexOf(piece.side),
    });
    return source !== null && source.depth < row.depth;
  });
}

export function* checkSnapshot(check: Verification, session: StoredSession): Generator<void> {
  const where = `snapshot of session ${session.key}`;
  const row = snapshotRow(check.db, session.id);
  const named = new Set(row === null ? [] : checkRoot(check, session, row));
  for (const page of pageRows(check.db, session.id)) {
    const name = hexOf(page.name);
    if (readPage(page) === null) reportDamage(check, where, `page ${name} does not match its name`);
    if (!named.delete(name)) reportDamage(check, where, `page ${name} belongs to no snapshot`);
    check.tally.pages += 1;
    yield;
  }
  for (const name of named) reportDamage(check, where, `page ${name} is missing`);
}

function checkRoot(check: Verification, session: StoredSession, row: SnapshotRow): readonly string[] {
  const where = `snapshot of session ${session.key}`;
  if (snapshotSum(row) !== row.sum) reportDamage(check, where, "has a wrong checksum");
  if (hashAt(check.db, session.id, row.seq) !== hexOf(row.hash))
    reportDamage(check, where, "is of no frame of its session");
  if (!unpackBytes(row.root, null).ok) reportDamage(check, where, "has a root that cannot be read");
  return pageNamesIn(row);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
