import {
  type ContentHash,
  contentHash,
  fail,
  limits,
  must,
  ok,
  type Result,
  type SessionId,
  sha256Hex,
} from "../base/index.ts";
import { checkRecipe, type SourceLengths } from "./batch-rules.ts";
import { contentById, contentShape, readContentRow } from "./content-table.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { bytesFromHex, ensureSession, storedSession } from "./frame-table.ts";
import { packBytes, unpackBytes } from "./packed-bytes.ts";
import {
  type BodyRef,
  decodeRecipe,
  encodeRecipe,
  mergePieces,
  pieceLength,
  type StoredPiece,
} from "./recipe.ts";
import {
  type ExpandedRecipe,
  expandRecipe,
  type IndexedRecipe,
  indexRecipe,
  type RecipeLookup,
  stepsAtMost,
} from "./recipe-expand.ts";
import { rowSum } from "./row-sum.ts";
import { type Body, type BodyKey, type BodyRow, exchangeSides, type RecipePiece } from "./store.ts";
import { type BodyShape, bodyCacheKey, type StoredBodyKey } from "./table-cache.ts";

/**
 * A body as stored. `depth` is the longest chain of copies below it; `leaves` is at least the number of
 * pieces that are read to restore it.
 */
export type StoredBody = {
  readonly session: number;
  readonly exchange: number;
  readonly side: number;
  readonly hash: Uint8Array;
  readonly length: number;
  readonly depth: number;
  readonly leaves: number;
  readonly sum: number;
  readonly recipe: Uint8Array;
};

const COLUMNS = "session, exchange, side, hash, length, depth, leaves, sum, recipe";
const KEY = "session = ? AND exchange = ? AND side = ?";
const INSERT = `INSERT INTO bodies (${COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)
  ON CONFLICT (session, exchange, side) DO NOTHING`;

function bodySum(row: Omit<StoredBody, "sum">): number {
  const { session, exchange, side, hash, length, depth, leaves, recipe } = row;
  return rowSum([session, exchange, side, hash, length, depth, leaves, recipe]);
}

/** Contract: called inside a transaction, after the contents the recipe names. */
export function insertBody(db: Database, body: Body): Result<void> {
  const { id } = ensureSession(db, body.session);
  const key = { session: id, exchange: body.exchange, side: exchangeSides.indexOf(body.side) };
  const sources = new RecipeSources(db, id);
  const checked = checkRecipe(body, sources);
  if (!checked.ok) return checked;
  const plan = planRecipe(
    db,
    { session: id, pieces: body.recipe.map((piece) => sources.stored(piece)) },
    sources,
  );
  if (!plan.ok) return compareWithStored(db, key, body) ?? plan;
  const { pieces, depth, leaves } = plan.value;
  const { length } = body;
  const recipe = packBytes(encodeRecipe(pieces));
  const row = { ...key, hash: bytesFromHex(body.hash), length, depth, leaves, recipe };
  const isNew = writeStep("body-insert", () => writeBody(db, row));
  if (!isNew) return must(compareWithStored(db, key, body), "only a stored body prevents the insert");
  db.cache.bodies.set(bodyCacheKey(key), { length, depth, leaves });
  return ok(undefined);
}

/** False if the body is stored already. */
function writeBody(db: Database, row: Omit<StoredBody, "sum">): boolean {
  const { session, exchange, side, hash, length, depth, leaves, recipe } = row;
  const values = [session, exchange, side, hash, length, depth, leaves, bodySum(row), recipe];
  return db.sql(INSERT).run(...values).changes > 0;
}

/** Null if no body is stored under the key. An equal one is accepted, so that a batch may be sent twice. */
function compareWithStored(db: Database, key: StoredBodyKey, body: Body): Result<void> | null {
  const row = db.sql(`SELECT hash FROM bodies WHERE ${KEY}`).get(key.session, key.exchange, key.side);
  if (row === undefined) return null;
  const { session, exchange, side, hash } = body;
  const isSame = Buffer.from(row["hash"] as Uint8Array).toString("hex") === hash;
  return isSame ? ok(undefined) : fail("AP_BODY_EXISTS", { session, exchange, side });
}

/** The contents and bodies a recipe refers to. */
class RecipeSources implements SourceLengths {
  readonly #db: Database;
  readonly #session: number;

  constructor(db: Database, session: number) {
    this.#db = db;
    this.#session = session;
  }

  contentLength(hash: ContentHash): number | null {
    return contentShape(this.#db, hash)?.length ?? null;
  }

  bodyLength(ref: BodyRef): number | null {
    return this.#body(ref)?.length ?? null;
  }

  /** Contract, also for `stored`: the recipe was checked. */
  body(ref: BodyRef): BodyShape {
    return must(this.#body(ref), "the recipe was checked");
  }

  stored(piece: RecipePiece): StoredPiece {
    if (piece.from !== "content") return piece;
    const { content, start, length } = piece;
    const { id } = must(contentShape(this.#db, content), "the recipe was checked");
    return { from: "content", content: id, start, length };
  }

  #body(ref: BodyRef): BodyShape | null {
    const key = { session: this.#session, exchange: ref.exchange, side: exchangeSides.indexOf(ref.side) };
    const name = bodyCacheKey(key);
    const cached = this.#db.cache.bodies.get(name);
    if (cached !== undefined) return cached;
    const sql = `SELECT length, depth, leaves FROM bodies WHERE ${KEY}`;
    const row = this.#db.sql(sql).get(key.session, key.exchange, key.side);
    if (row === undefined) return null;
    const shape = row as unknown as BodyShape;
    this.#db.cache.bodies.set(name, shape);
    return shape;
  }
}

type RecipePlan = {
  readonly pieces: readonly StoredPiece[];
  readonly depth: number;
  readonly leaves: number;
};

/**
 * Copies may refer to copies up to a depth; a deeper body is stored as contents and literal bytes again. If a
 * body might take too many steps to restore, the steps are counted, and it is refused if they are too many.
 */
function planRecipe(
  db: Database,
  { session, pieces }: { readonly session: number; readonly pieces: readonly StoredPiece[] },
  sources: RecipeSources,
): Result<RecipePlan> {
  const merged = mergePieces(pieces);
  const depth = merged.reduce(
    (a, piece) => (piece.from === "body" ? Math.max(a, 1 + sources.body(piece).depth) : a),
    0,
  );
  const leaves = stepsAtMost(merged, (ref) => sources.body(ref));
  if (depth <= limits.recipeChainMax && leaves <= limits.recipeLeavesMax)
    return ok({ pieces: merged, depth, leaves });
  const expanded = expandStored(db, { session, pieces: merged });
  if (!expanded.ok) return expanded;
  if (depth <= limits.recipeChainMax) return ok({ pieces: merged, depth, leaves: expanded.value.steps });
  const flat = mergePieces(expanded.value.leaves);
  return ok({ pieces: flat, depth: 0, leaves: flat.length });
}

/** The keys of a session's bodies, without the recipes, which may be large. */
export function bodyKeys(db: Database, session: number): readonly StoredBodyKey[] {
  const sql = "SELECT session, exchange, side FROM bodies WHERE session = ? ORDER BY exchange, side";
  return db.sql(sql).all(session) as unknown as StoredBodyKey[];
}

export function bodyRow(db: Database, key: StoredBodyKey): StoredBody | null {
  const row = db.sql(`SELECT ${COLUMNS} FROM bodies WHERE ${KEY}`).get(key.session, key.exchange, key.side);
  return (row as unknown as StoredBody | undefined) ?? null;
}

export function recipeOfRow(row: StoredBody): Result<readonly StoredPiece[]> {
  if (bodySum(row) !== row.sum)
    return fail("AP_STORE_CORRUPT", { problem: `a body of exchange ${row.exchange} has a wrong checksum` });
  const unpacked = unpackBytes(row.recipe, null);
  return unpacked.ok ? decodeRecipe(unpacked.value) : unpacked;
}

function expandStored(
  db: Database,
  { session, pieces }: { readonly session: number; readonly pieces: readonly StoredPiece[] },
): Result<ExpandedRecipe<number>> {
  const loaded = new Map<string, IndexedRecipe<number>>();
  const recipeOf: RecipeLookup<number> = ({ exchange, side }) => {
    const key = `${exchange} ${side}`;
    const recipe = loaded.get(key) ?? loadRecipe(db, { session, exchange, side });
    loaded.set(key, recipe);
    return recipe;
  };
  try {
    return expandRecipe(pieces, recipeOf);
  } catch (error) {
    if (error instanceof BrokenRecipe) return error.result;
    throw error;
  }
}

/** Carries a refusal out of the walk over copies of copies. */
class BrokenRecipe extends Error {
  readonly result: Result<never>;

  constructor(result: Result<never>) {
    super("broken recipe");
    this.result = result;
  }
}

function loadRecipe(
  db: Database,
  { session, exchange, side }: BodyRef & { readonly session: number },
): IndexedRecipe<number> {
  const row = bodyRow(db, { session, exchange, side: exchangeSides.indexOf(side) });
  const problem = `the ${side} body of exchange ${exchange} is missing`;
  const pieces = row === null ? fail("AP_STORE_CORRUPT", { problem }) : recipeOfRow(row);
  if (!pieces.ok) throw new BrokenRecipe(pieces);
  return indexRecipe(pieces.value);
}

export function readBody(db: Database, { session, exchange, side }: BodyKey): Result<Uint8Array> {
  const id = storedSession(db, session)?.id;
  const row =
    id === undefined ? null : bodyRow(db, { session: id, exchange, side: exchangeSides.indexOf(side) });
  if (row === null) return fail("AP_BODY_UNKNOWN", { session, exchange, side });
  const restored = restoreBody(db, row);
  if (restored.ok || restored.error.code === "AP_CONTENT_PURGED") return restored;
  return fail("AP_BODY_DAMAGED", { exchange, side });
}

export function restoreBody(db: Database, row: StoredBody): Result<Uint8Array> {
  const pieces = recipeOfRow(row);
  if (!pieces.ok) return pieces;
  const expanded = expandStored(db, { session: row.session, pieces: pieces.value });
  if (!expanded.ok) return expanded;
  const { leaves } = expanded.value;
  const total = leaves.reduce((length, leaf) => length + pieceLength(leaf), 0);
  if (total !== row.length)
    return fail("AP_STORE_CORRUPT", { problem: "a recipe does not have the length of its body" });
  const body = Buffer.allocUnsafe(total);
  const contentOf = contentReader(db);
  let at = 0;
  for (const leaf of leaves) {
    const source = leaf.from === "literal" ? ok(leaf.bytes) : contentOf(leaf.content);
    if (!source.ok) return source;
    const slice =
      leaf.from === "literal" ? source.value : source.value.subarray(leaf.start, leaf.start + leaf.length);
    body.set(slice, at);
    at += pieceLength(leaf);
  }
  const matches = sha256Hex(body) === Buffer.from(row.hash).toString("hex");
  return matches ? ok(body) : fail("AP_STORE_CORRUPT", { problem: "a body does not match its hash" });
}

/** Reads each content once: a body often names the same content several times. */
function contentReader(db: Database): (id: number) => Result<Uint8Array> {
  const read = new Map<number, Result<Uint8Array>>();
  return (id) => {
    const cached = read.get(id);
    if (cached !== undefined) return cached;
    const row = contentById(db, id);
    const content =
      row === null
        ? fail("AP_STORE_CORRUPT", { problem: `content ${id} is missing` })
        : readContentRow(db, row);
    read.set(id, content);
    return content;
  };
}

export function readBodies(db: Database, session: SessionId): readonly BodyRow[] {
  const id = storedSession(db, session)?.id;
  if (id === undefined) return [];
  const sql = "SELECT exchange, side, hash, length FROM bodies WHERE session = ? ORDER BY exchange, side";
  return db
    .sql(sql)
    .all(id)
    .map((row) => ({
      session,
      exchange: row["exchange"] as number,
      side: must(exchangeSides[row["side"] as number], "a stored side exists"),
      hash: contentHash(Buffer.from(row["hash"] as Uint8Array).toString("hex")),
      length: row["length"] as number,
    }));
}
