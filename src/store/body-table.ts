import {
  contentHash,
  fail,
  limits,
  must,
  ok,
  type Result,
  type SessionId,
  sha256Hex,
} from "../base/index.ts";
import { contentById, readRow } from "./content-table.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { bytesOf, ensureSession, sessionRow } from "./frame-table.ts";
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
  type Expanded,
  expandRecipe,
  type IndexedRecipe,
  indexRecipe,
  type RecipeOf,
  stepsAtMost,
} from "./recipe-expand.ts";
import { rowSum } from "./row-sum.ts";
import { checkRecipe, type Known } from "./rules.ts";
import { type Body, type BodyKey, type BodyRow, type Piece, sides } from "./store.ts";

/**
 * A body as stored. `depth` counts the copies of copies it rests on, `leaves` is at least the number of
 * pieces it is put together from when they are followed.
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

export function bodySum(row: Omit<StoredBody, "sum">): number {
  const { session, exchange, side, hash, length, depth, leaves, recipe } = row;
  return rowSum([session, exchange, side, hash, length, depth, leaves, recipe]);
}

/** Contract: called inside a transaction, after the contents the recipe names. */
export function insertBody(db: Database, body: Body): Result<void> {
  const { id } = ensureSession(db, body.session);
  const key = { session: id, exchange: body.exchange, side: sides.indexOf(body.side) };
  const sources = new Sources(db, id);
  const checked = checkRecipe(body, sources);
  if (!checked.ok) return checked;
  const present = db.sql(`SELECT hash FROM bodies WHERE ${KEY}`).get(key.session, key.exchange, key.side);
  if (present !== undefined) return samePresent(body, present["hash"] as Uint8Array);
  const plan = planRecipe(
    db,
    { session: id, pieces: body.recipe.map((piece) => sources.stored(piece)) },
    sources,
  );
  if (!plan.ok) return plan;
  const { pieces, depth, leaves } = plan.value;
  const recipe = packBytes(encodeRecipe(pieces));
  const row = { ...key, hash: bytesOf(body.hash), length: body.length, depth, leaves, recipe };
  writeStep("body-insert", () => writeBody(db, row));
  return ok(undefined);
}

function writeBody(db: Database, row: Omit<StoredBody, "sum">): void {
  const { session, exchange, side, hash, length, depth, leaves, recipe } = row;
  const sql = `INSERT INTO bodies (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  db.sql(sql).run(session, exchange, side, hash, length, depth, leaves, bodySum(row), recipe);
}

function samePresent({ session, exchange, side, hash }: Body, present: Uint8Array): Result<void> {
  if (Buffer.from(present).toString("hex") === hash) return ok(undefined);
  return fail("AP_BODY_EXISTS", { session, exchange, side });
}

type ContentShape = { readonly id: number; readonly length: number };
type BodyShape = Pick<StoredBody, "length" | "depth" | "leaves">;

/** What a recipe is made of, looked up once: most pieces of a recipe come from the same few places. */
class Sources implements Known {
  readonly #db: Database;
  readonly #session: number;
  readonly #contents = new Map<string, ContentShape | undefined>();
  readonly #bodies = new Map<string, BodyShape | undefined>();

  constructor(db: Database, session: number) {
    this.#db = db;
    this.#session = session;
  }

  contentLength(hash: string): number | null {
    return this.#content(hash)?.length ?? null;
  }

  bodyLength(ref: BodyRef): number | null {
    return this.#body(ref)?.length ?? null;
  }

  /** Contract for this and the next: the recipe was checked. */
  body(ref: BodyRef): BodyShape {
    return must(this.#body(ref), "the recipe was checked");
  }

  stored(piece: Piece): StoredPiece {
    if (piece.from !== "content") return piece;
    return { ...piece, content: must(this.#content(piece.content), "the recipe was checked").id };
  }

  #content(hash: string): ContentShape | undefined {
    if (!this.#contents.has(hash)) {
      const row = this.#db.sql("SELECT id, length FROM contents WHERE hash = ?").get(bytesOf(hash));
      this.#contents.set(hash, row as unknown as ContentShape | undefined);
    }
    return this.#contents.get(hash);
  }

  #body({ exchange, side }: BodyRef): BodyShape | undefined {
    const name = `${exchange} ${side}`;
    if (!this.#bodies.has(name)) {
      const sql = `SELECT length, depth, leaves FROM bodies WHERE ${KEY}`;
      const row = this.#db.sql(sql).get(this.#session, exchange, sides.indexOf(side));
      this.#bodies.set(name, row as unknown as BodyShape | undefined);
    }
    return this.#bodies.get(name);
  }
}

type Plan = { readonly pieces: readonly StoredPiece[]; readonly depth: number; readonly leaves: number };

/**
 * Copies may rest on copies up to a depth; a body beyond it is written in contents and literal bytes again.
 * One that may take too much work to put together is counted out, and refused if it does.
 */
function planRecipe(
  db: Database,
  { session, pieces }: { readonly session: number; readonly pieces: readonly StoredPiece[] },
  sources: Sources,
): Result<Plan> {
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

export type StoredBodyKey = Pick<StoredBody, "session" | "exchange" | "side">;

/** Without their recipes, which may be large. */
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

export function expandStored(
  db: Database,
  { session, pieces }: { readonly session: number; readonly pieces: readonly StoredPiece[] },
): Result<Expanded<number>> {
  const loaded = new Map<string, IndexedRecipe<number>>();
  const recipeOf: RecipeOf<number> = ({ exchange, side }) => {
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
  const row = bodyRow(db, { session, exchange, side: sides.indexOf(side) });
  const problem = `the ${side} body of exchange ${exchange} is missing`;
  const pieces = row === null ? fail("AP_STORE_CORRUPT", { problem }) : recipeOfRow(row);
  if (!pieces.ok) throw new BrokenRecipe(pieces);
  return indexRecipe(pieces.value);
}

export function readBody(db: Database, { session, exchange, side }: BodyKey): Result<Uint8Array> {
  const id = sessionRow(db, session)?.id;
  const row = id === undefined ? null : bodyRow(db, { session: id, exchange, side: sides.indexOf(side) });
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

/** A body names the same content often; each is read once. */
function contentReader(db: Database): (id: number) => Result<Uint8Array> {
  const read = new Map<number, Result<Uint8Array>>();
  return (id) => {
    const known = read.get(id);
    if (known !== undefined) return known;
    const row = contentById(db, id);
    const content =
      row === null ? fail("AP_STORE_CORRUPT", { problem: `content ${id} is missing` }) : readRow(db, row);
    read.set(id, content);
    return content;
  };
}

export function readBodies(db: Database, session: SessionId): readonly BodyRow[] {
  const id = sessionRow(db, session)?.id;
  if (id === undefined) return [];
  const sql = "SELECT exchange, side, hash, length FROM bodies WHERE session = ? ORDER BY exchange, side";
  return db
    .sql(sql)
    .all(id)
    .map((row) => ({
      session,
      exchange: row["exchange"] as number,
      side: must(sides[row["side"] as number], "a stored side exists"),
      hash: contentHash(Buffer.from(row["hash"] as Uint8Array).toString("hex")),
      length: row["length"] as number,
    }));
}
