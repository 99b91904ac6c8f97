import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { assert, type ContentHash, fail, limits, ok, type Result, sha256Hex } from "../base/index.ts";
import { commonPrefixLength } from "./common-bytes.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { packBytes, unpackBytes } from "./packed-bytes.ts";
import { rowSum } from "./row-sum.ts";
import type { HashedContent } from "./store.ts";
import type { ContentShape } from "./table-cache.ts";

/**
 * A content as stored: its first `shared` bytes are those of `base`, the rest is in `bytes`. `depth` is at
 * least one more than the depth of the base. `bytes` is null if the content was purged.
 */
export type ContentRow = {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly length: number;
  readonly head: number | null;
  readonly base: number | null;
  readonly shared: number;
  readonly depth: number;
  readonly sum: number;
  readonly bytes: Uint8Array | null;
};

/** A content that is long enough is compared with earlier ones that begin with the same bytes. */
const HEAD_BYTES = 256;
const SHARING_BYTES_MIN = 512;
const CANDIDATES_MAX = 4;
/** Earlier contents that are tested as the beginning of a new one; comparing hashes needs no reading. */
const BEGINNINGS_MAX = 256;

const COLUMNS = "id, hash, length, head, base, shared, depth, sum, bytes";
const BY_HASH = `SELECT ${COLUMNS} FROM contents WHERE hash = ?`;
const BY_ID = `SELECT ${COLUMNS} FROM contents WHERE id = ?`;
const BY_HEAD = `SELECT ${COLUMNS} FROM contents WHERE head = ? AND bytes IS NOT NULL ORDER BY id DESC LIMIT ${CANDIDATES_MAX}`;
const BY_LENGTH = `SELECT id, hash, length, depth FROM contents
  WHERE head = ? AND length >= ? AND length < ? ORDER BY length DESC LIMIT ${BEGINNINGS_MAX}`;
const INSERT = `INSERT INTO contents (${COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (hash) DO NOTHING`;

export function contentSum(row: Omit<ContentRow, "sum">): number {
  return rowSum([row.id, row.hash, row.length, row.head, row.base, row.shared, row.depth, row.bytes]);
}

/** Contract: the bytes have that hash. A content that is stored stays, and a purged one stays purged. */
export function insertContent(db: Database, { hash, bytes }: HashedContent): void {
  if (db.cache.contents.has(hash)) return;
  // Finding a base takes work, so first check whether the content is stored already.
  if (bytes.length >= SHARING_BYTES_MIN && contentShape(db, hash) !== null) return;
  const key = Buffer.from(hash, "hex");
  const link = findBase(db, bytes);
  const row = {
    id: nextId(db),
    hash: key,
    length: bytes.length,
    head: headChecksum(bytes),
    base: link?.base ?? null,
    shared: link?.shared ?? 0,
    depth: link?.depth ?? 0,
    bytes: packBytes(bytes.subarray(link?.shared ?? 0)),
  };
  assert(row.depth <= limits.contentChainMax, "chains of contents are bounded");
  const isNew = writeStep("content-insert", () => writeContent(db, row));
  if (!isNew) return;
  db.cache.newestContent = row.id;
  db.cache.contents.set(hash, { id: row.id, length: row.length });
}

/** False if the content is stored already. */
function writeContent(db: Database, row: Omit<ContentRow, "sum">): boolean {
  const { id, hash, length, head, base, shared, depth, bytes } = row;
  return db.sql(INSERT).run(id, hash, length, head, base, shared, depth, contentSum(row), bytes).changes > 0;
}

/** The id and length of a content, which recipes need. Null if it is unknown. */
export function contentShape(db: Database, hash: ContentHash): ContentShape | null {
  const cached = db.cache.contents.get(hash);
  if (cached !== undefined) return cached;
  const row = db.sql("SELECT id, length FROM contents WHERE hash = ?").get(Buffer.from(hash, "hex"));
  if (row === undefined) return null;
  const shape = row as unknown as ContentShape;
  db.cache.contents.set(hash, shape);
  return shape;
}

/** Ids of dropped contents may be used again: nothing that still exists refers to them. */
function nextId(db: Database): number {
  if (db.cache.newestContent !== null) return db.cache.newestContent + 1;
  const newest = db.sql("SELECT max(id) AS id FROM contents").get()?.["id"];
  return typeof newest === "number" ? newest + 1 : 1;
}

export function headChecksum(bytes: Uint8Array): number | null {
  return bytes.length < SHARING_BYTES_MIN ? null : crc32(bytes.subarray(0, HEAD_BYTES));
}

type BaseLink = { readonly base: number; readonly shared: number; readonly depth: number };

/** The earlier content this one shares most with, if that is at least half of it. */
function findBase(db: Database, bytes: Uint8Array): BaseLink | null {
  const head = headChecksum(bytes);
  if (head === null) return null;
  let best = findBeginning(db, bytes, head);
  // A chain at its limit starts over: this content is stored whole, and the next ones build on it.
  if (best !== null && best.depth > limits.contentChainMax) return null;
  for (const candidate of db.sql(BY_HEAD).all(head) as unknown as ContentRow[]) {
    if (candidate.depth >= limits.contentChainMax || candidate.length <= (best?.shared ?? 0)) continue;
    const earlier = restoreContent(db, candidate);
    if (!earlier.ok) continue;
    const shared = commonPrefixLength(earlier.value, bytes);
    if (shared * 2 < bytes.length || shared <= (best?.shared ?? 0)) continue;
    const base = ownerOfByte(db, candidate, shared);
    best = { base: base.id, shared, depth: base.depth + 1 };
    if (shared === earlier.value.length) break;
  }
  return best;
}

/**
 * The longest earlier content this one begins with, if that is at least half of it. Many files may begin with
 * the same licence and grow by turns, so all of them are tested: one pass over the bytes gives the hash of
 * every beginning.
 */
function findBeginning(db: Database, bytes: Uint8Array, head: number): BaseLink | null {
  const rows = db.sql(BY_LENGTH).all(head, Math.ceil(bytes.length / 2), bytes.length);
  const hash = createHash("sha256");
  let [at, best]: [number, BaseLink | null] = [0, null];
  for (const row of (rows as unknown as ContentRow[]).reverse()) {
    hash.update(bytes.subarray(at, row.length));
    at = row.length;
    if (hash.copy().digest().equals(row.hash)) best = { base: row.id, shared: at, depth: row.depth + 1 };
  }
  return best;
}

/**
 * The content in the candidate's chain that stores the last shared byte. Linking to it makes a shorter chain
 * than linking to the candidate.
 */
function ownerOfByte(db: Database, candidate: ContentRow, shared: number): ContentRow {
  const base = candidate.base === null || candidate.shared < shared ? null : contentById(db, candidate.base);
  return base === null ? candidate : ownerOfByte(db, base, shared);
}

export function contentByHash(db: Database, hash: ContentHash): ContentRow | null {
  return (db.sql(BY_HASH).get(Buffer.from(hash, "hex")) as unknown as ContentRow | undefined) ?? null;
}

export function contentById(db: Database, id: number): ContentRow | null {
  return (db.sql(BY_ID).get(id) as unknown as ContentRow | undefined) ?? null;
}

export function readContent(db: Database, hash: ContentHash): Result<Uint8Array> {
  const row = contentByHash(db, hash);
  return row === null ? fail("AP_CONTENT_UNKNOWN", { hash }) : readContentRow(db, row);
}

/** Checks the hash on every read: a content that does not match is never returned. */
export function readContentRow(db: Database, row: ContentRow): Result<Uint8Array> {
  const hash = Buffer.from(row.hash).toString("hex");
  if (row.bytes === null) return fail("AP_CONTENT_PURGED", { hash });
  const restored = restoreContent(db, row);
  return restored.ok && sha256Hex(restored.value) === hash ? restored : fail("AP_CONTENT_DAMAGED", { hash });
}

/**
 * Restores a content from its end: each link of the chain fills the bytes the links after it left open, so
 * that the work is the size of the content plus the length of the chain, not their product.
 */
function restoreContent(db: Database, row: ContentRow): Result<Uint8Array> {
  const broken = fail("AP_STORE_CORRUPT", { problem: `content ${row.id} is not whole` });
  if (!(row.length >= 0 && row.length <= limits.contentBytesMax)) return broken;
  const whole = Buffer.allocUnsafe(row.length);
  let open = row.length;
  let link: ContentRow | null = row;
  for (let depth = 0; depth <= limits.contentChainMax; depth++) {
    if (link === null || link.bytes === null || link.length < open) return broken;
    const { shared, length, bytes, base }: ContentRow = link;
    if (shared < open) {
      const rest = unpackBytes(bytes as Uint8Array, length - shared);
      if (!rest.ok) return rest;
      whole.set(rest.value.subarray(0, open - shared), shared);
      open = shared;
    }
    if (open === 0) return ok(whole);
    link = base === null ? null : contentById(db, base);
  }
  return broken;
}

/** Stores a content whole, so that it no longer needs its base. */
export function rewriteWhole(db: Database, row: ContentRow, bytes: Uint8Array): void {
  const whole = { ...row, base: null, shared: 0, depth: 0, bytes: packBytes(bytes) };
  updateContent(db, whole);
}

/** Erases the bytes and keeps the hash. */
export function eraseContent(db: Database, row: ContentRow): void {
  updateContent(db, { ...row, head: null, base: null, shared: 0, depth: 0, bytes: null });
}

function updateContent(db: Database, row: Omit<ContentRow, "sum">): void {
  db.sql(
    "UPDATE contents SET head = ?, base = ?, shared = ?, depth = ?, sum = ?, bytes = ? WHERE id = ?",
  ).run(row.head, row.base, row.shared, row.depth, contentSum(row), row.bytes, row.id);
}
