import { limits, must, sha256Hex } from "../base/index.ts";
import { type ContentRow, contentById, contentSum, headChecksum, readContentRow } from "./content-table.ts";
import { readPragma } from "./database.ts";
import { frameDictionary } from "./frame-dictionary.ts";
import { metaSum, schemaOf } from "./table-schema.ts";
import { reportDamage, type Verification } from "./verification.ts";

const CHUNK_ROWS = 64;

/** Checks with SQLite's own means: the structure of the file, its indexes, its schema. */
export function* checkFile(check: Verification): Generator<void> {
  const { db } = check;
  for (const row of readPragma(db, "integrity_check(100)")) {
    if (row["integrity_check"] !== "ok") reportDamage(check, "file", String(row["integrity_check"]));
  }
  yield;
  for (const row of readPragma(db, "foreign_key_check")) {
    reportDamage(check, `table ${row["table"]}`, `a row belongs to no ${row["parent"]}`);
  }
  if (schemaOf(db.sqlite).join("\n") !== db.schema.join("\n")) {
    reportDamage(check, "schema", "the tables are not those of this format");
  }
  checkMeta(check);
}

function checkMeta(check: Verification): void {
  const rows = check.db.sql("SELECT name, value, sum FROM meta").all();
  for (const row of rows) {
    const [name, value] = [String(row["name"]), String(row["value"])];
    if (metaSum({ name, value }) !== row["sum"]) reportDamage(check, `meta ${name}`, "has a wrong checksum");
  }
  const dictionary = rows.find((row) => row["name"] === "frame-dictionary")?.["value"];
  if (dictionary !== sha256Hex(frameDictionary))
    reportDamage(check, "meta", "names another dictionary for frames");
}

/** Reads one content at a time: each may be as large as memory allows. */
export function* checkContents(check: Verification): Generator<void> {
  const sql = `SELECT id FROM contents WHERE id > ? ORDER BY id LIMIT ${CHUNK_ROWS}`;
  for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
    const ids: readonly number[] = check.db
      .sql(sql)
      .all(after)
      .map((row) => row["id"] as number);
    for (const id of ids) {
      checkContent(check, must(contentById(check.db, id), "it was there a moment ago"));
      yield;
    }
    check.tally.contents += ids.length;
    after = ids.at(-1);
  }
}

function checkContent(check: Verification, row: ContentRow): void {
  const problem = contentProblem(check, row);
  if (problem !== null) reportDamage(check, `content ${Buffer.from(row.hash).toString("hex")}`, problem);
}

function contentProblem({ db }: Verification, row: ContentRow): string | null {
  if (contentSum(row) !== row.sum) return "has a wrong checksum";
  const linked = linkProblem(row, row.base === null ? null : contentById(db, row.base));
  if (linked !== null || row.bytes === null) return linked;
  const bytes = readContentRow(db, row);
  if (!bytes.ok) return bytes.error.message;
  return headChecksum(bytes.value) === row.head ? null : "is filed under another beginning";
}

function linkProblem(row: ContentRow, base: ContentRow | null): string | null {
  const alone = row.base === null && row.shared === 0 && row.depth === 0;
  if (row.bytes === null) return alone && row.head === null ? null : "was purged but keeps a link";
  if (row.base === null) return alone ? null : "shares bytes with nothing";
  if (base === null) return "shares bytes with a content that is missing";
  const possible = row.shared > 0 && row.shared <= Math.min(base.length, row.length);
  const bounded = base.depth < row.depth && row.depth <= limits.contentChainMax;
  return possible && bounded ? null : "has an impossible link";
}
