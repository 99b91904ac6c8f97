import { frameHash, must, ok, type Result, type SessionId, seqOf } from "../base/index.ts";
import { checkSnapshotPosition, pageMatches } from "./batch-rules.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { bytesFromHex, ensureSession, hashAt, storedSession } from "./frame-table.ts";
import { packBytes, unpackBytes } from "./packed-bytes.ts";
import { rowSum } from "./row-sum.ts";
import type { Snapshot } from "./store.ts";

/** `pages` lists the names of all pages, in binary, each preceded by its length. */
export type SnapshotRow = {
  readonly session: number;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly sum: number;
  readonly pages: Uint8Array;
  readonly root: Uint8Array;
};
export type PageRow = {
  readonly session: number;
  readonly name: Uint8Array;
  readonly sum: number;
  readonly bytes: Uint8Array;
};

export function snapshotSum(row: Omit<SnapshotRow, "sum">): number {
  return rowSum([row.session, row.seq, row.hash, row.pages, row.root]);
}

function pageSum(row: Omit<PageRow, "sum">): number {
  return rowSum([row.session, row.name, row.bytes]);
}

/** Replaces the session's snapshot, adds new pages and drops pages the snapshot no longer names. */
export function insertSnapshot(db: Database, snapshot: Snapshot): Result<void> {
  const { id } = ensureSession(db, snapshot.session);
  const stored = pageNames(db, id);
  const placed = checkSnapshotPosition(snapshot, {
    newest: snapshotRow(db, id)?.seq ?? 0,
    hashAt: (seq) => hashAt(db, id, seq),
    hasPage: (name) => stored.has(name),
  });
  if (!placed.ok) return placed;
  if (placed.value === "passed") return ok(undefined);
  const named = new Set(snapshot.pageHashes);
  for (const name of named) {
    if (!stored.has(name))
      insertPage(db, { session: id, name, bytes: must(snapshot.pages.get(name), "checked") });
  }
  writeStep("snapshot-insert", () => writeSnapshot(db, id, snapshot));
  for (const name of stored) {
    if (!named.has(name)) dropPage(db, { session: id, name });
  }
  return ok(undefined);
}

function insertPage(
  db: Database,
  page: { readonly session: number; readonly name: string; readonly bytes: Uint8Array },
): void {
  const row = { session: page.session, name: bytesFromHex(page.name), bytes: packBytes(page.bytes) };
  const sql = "INSERT INTO pages (session, name, sum, bytes) VALUES (?, ?, ?, ?)";
  writeStep("page-insert", () => db.sql(sql).run(row.session, row.name, pageSum(row), row.bytes));
}

export function dropPage(
  db: Database,
  { session, name }: { readonly session: number; readonly name: string },
): void {
  const sql = "DELETE FROM pages WHERE session = ? AND name = ?";
  writeStep("page-delete", () => db.sql(sql).run(session, bytesFromHex(name)));
}

function writeSnapshot(db: Database, session: number, { seq, hash, root, pageHashes }: Snapshot): void {
  const pages = Buffer.concat(
    [...new Set(pageHashes)].flatMap((name) => [Buffer.of(name.length / 2), bytesFromHex(name)]),
  );
  const row = { session, seq, hash: bytesFromHex(hash), pages, root: packBytes(Buffer.from(root)) };
  const sql =
    "INSERT OR REPLACE INTO snapshots (session, seq, hash, sum, pages, root) VALUES (?, ?, ?, ?, ?, ?)";
  db.sql(sql).run(session, seq, row.hash, snapshotSum(row), pages, row.root);
}

export function snapshotRow(db: Database, session: number): SnapshotRow | null {
  const sql = "SELECT session, seq, hash, sum, pages, root FROM snapshots WHERE session = ?";
  return (db.sql(sql).get(session) as unknown as SnapshotRow | undefined) ?? null;
}

export function pageNames(db: Database, session: number): ReadonlySet<string> {
  const rows = db.sql("SELECT name FROM pages WHERE session = ?").all(session);
  return new Set(rows.map((row) => Buffer.from(row["name"] as Uint8Array).toString("hex")));
}

export function pageRows(db: Database, session: number): readonly PageRow[] {
  const sql = "SELECT session, name, sum, bytes FROM pages WHERE session = ?";
  return db.sql(sql).all(session) as unknown as PageRow[];
}

export function pageNamesIn(row: SnapshotRow): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at < row.pages.length; ) {
    const length = row.pages[at] ?? 0;
    names.push(Buffer.from(row.pages.subarray(at + 1, at + 1 + length)).toString("hex"));
    at += 1 + length;
  }
  return names;
}

/** The bytes of a page. Null if they do not match its name. */
export function readPage(row: PageRow): Uint8Array | null {
  if (pageSum(row) !== row.sum) return null;
  const bytes = unpackBytes(row.bytes, null);
  return bytes.ok && pageMatches(Buffer.from(row.name).toString("hex"), bytes.value) ? bytes.value : null;
}

/** An incomplete snapshot counts as none: the frames are replayed instead. */
export function readSnapshot(db: Database, session: SessionId): Snapshot | null {
  const id = storedSession(db, session)?.id;
  const row = id === undefined ? null : snapshotRow(db, id);
  if (id === undefined || row === null || snapshotSum(row) !== row.sum) return null;
  const root = unpackBytes(row.root, null);
  const hash = Buffer.from(row.hash).toString("hex");
  if (!root.ok || hashAt(db, id, row.seq) !== hash) return null;
  const pageHashes = pageNamesIn(row);
  const pages = new Map<string, Uint8Array>();
  for (const page of pageRows(db, id)) {
    const bytes = readPage(page);
    if (bytes !== null) pages.set(Buffer.from(page.name).toString("hex"), bytes);
  }
  if (!pageHashes.every((name) => pages.has(name))) return null;
  return {
    session,
    seq: seqOf(row.seq),
    hash: frameHash(hash),
    root: Buffer.from(root.value).toString("utf8"),
    pageHashes,
    pages,
  };
}
