import { sha256Hex } from "../base/index.ts";
import { type Sqlite, selectOnce } from "./driver.ts";
import { frameDictionary } from "./frame-dictionary.ts";
import { rowSum } from "./row-sum.ts";

/** "Aper" in the header of the file marks it as ours. */
export const APPLICATION_ID = 0x41706572;

/**
 * Large values are the last columns, so that reading the rest of a row skips them. `sum` covers every other
 * column of its row.
 */
const FORMAT_1 = [
  "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  `CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, hash BLOB NOT NULL,
    time INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE frames (
    session INTEGER NOT NULL REFERENCES sessions, seq INTEGER NOT NULL, hash BLOB NOT NULL,
    sum INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE contents (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, length INTEGER NOT NULL, head INTEGER, base INTEGER,
    shared INTEGER NOT NULL, depth INTEGER NOT NULL, sum INTEGER NOT NULL, bytes BLOB
  ) STRICT`,
  "CREATE INDEX contents_head ON contents (head) WHERE head IS NOT NULL",
  "CREATE INDEX contents_growth ON contents (head, length) WHERE head IS NOT NULL",
  "CREATE INDEX contents_base ON contents (base) WHERE base IS NOT NULL",
  `CREATE TABLE bodies (
    session INTEGER NOT NULL REFERENCES sessions, exchange INTEGER NOT NULL, side INTEGER NOT NULL,
    hash BLOB NOT NULL, length INTEGER NOT NULL, depth INTEGER NOT NULL, leaves INTEGER NOT NULL,
    sum INTEGER NOT NULL, recipe BLOB NOT NULL, PRIMARY KEY (session, exchange, side)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE snapshots (
    session INTEGER PRIMARY KEY REFERENCES sessions, seq INTEGER NOT NULL, hash BLOB NOT NULL,
    sum INTEGER NOT NULL, pages BLOB NOT NULL, root BLOB NOT NULL
  ) STRICT`,
  `CREATE TABLE pages (
    session INTEGER NOT NULL REFERENCES sessions, name BLOB NOT NULL, sum INTEGER NOT NULL,
    bytes BLOB NOT NULL, PRIMARY KEY (session, name)
  ) STRICT, WITHOUT ROWID`,
];

export function createFormat1(db: Sqlite): void {
  for (const sql of FORMAT_1) db.exec(sql);
  const [name, value] = ["frame-dictionary", sha256Hex(frameDictionary)];
  db.prepare("INSERT INTO meta (name, value, sum) VALUES (?, ?, ?)").run(
    name,
    value,
    metaSum({ name, value }),
  );
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

export function metaSum({ name, value }: { readonly name: string; readonly value: string }): number {
  return rowSum([name, value]);
}

/** Every table and index with the SQL that made it, without the statistics SQLite keeps for its planner. */
export function schemaOf(db: Sqlite): readonly string[] {
  const rows = selectOnce(
    db,
    "type, name, tbl_name, sql",
    "sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'",
  );
  return rows.map((row) => row.join("\t")).sort();
}
