import { chmodSync, closeSync, existsSync, openSync, renameSync, statSync } from "node:fs";
import { extname } from "node:path";
import { assert } from "../base/index.ts";
import { makeDirectory } from "./data-directory.ts";
import { type Driver, type Row, readOnce, type Sqlite, type Statement } from "./driver.ts";
import { writeStep } from "./fail-points.ts";
import { faultOf, StoreFault } from "./faults.ts";
import {
  expectedSchema,
  formatOf,
  latestFormat,
  type Migration,
  migrate,
  migrations,
  rollBack,
} from "./migrations.ts";
import { Remembered } from "./remembered.ts";
import { APPLICATION_ID, schemaOf } from "./schema.ts";
import { lostFramesOf } from "./wal-check.ts";

/** An open database. Statements are prepared once. */
export type Database = {
  readonly sqlite: Sqlite;
  readonly path: string;
  /** What its tables should look like. */
  readonly schema: readonly string[];
  /** Tells whether the path still leads to the file that is open. */
  readonly inode: number;
  /** Frames of its journal that were committed and could not be read when it was opened. */
  readonly lostFrames: number;
  readonly sql: (text: string) => Statement;
  readonly known: Remembered;
};

export type DatabaseOptions = {
  readonly path: string;
  readonly driver: Driver;
  /** Names the file that is set aside. */
  readonly now: () => Date;
  /** Caps the size of the file; null is no cap. */
  readonly maxPages?: number | null;
  readonly migrations?: readonly Migration[];
};

export type Opened = {
  readonly database: Database;
  /** Where a file that could not be used was put. */
  readonly aside: { readonly kind: AsideKind; readonly path: string; readonly problem: string } | null;
  /** The last one to use the file did not close it. */
  readonly crashed: boolean;
};
export type AsideKind = "damaged" | "foreign";

/** The journal is copied into the file after this many pages, and cut to this size when it starts over. */
const CHECKPOINT_PAGES = 512;
const JOURNAL_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Opens or creates the database. Throws what `faultOf` understands; a file that is no use is set aside
 * first.
 */
export function openDatabase(options: DatabaseOptions): Opened {
  makeDirectory(options.path);
  try {
    return { ...openFile(options), aside: null };
  } catch (error) {
    const { error: found, remedy } = faultOf(error, options.path);
    if (remedy !== "damaged") throw error;
    const kind = found.code === "AP_STORE_FOREIGN" ? "foreign" : "damaged";
    const path = setAside(options, kind);
    return { ...openFile(options), aside: { kind, path, problem: String(found.details["problem"]) } };
  }
}

/** Sets aside a file that opened well and turned out to be damaged later, and starts a new one. */
export function replaceDatabase(options: DatabaseOptions, problem: string): Opened {
  const path = setAside(options, "damaged");
  return { ...openFile(options), aside: { kind: "damaged", path, problem } };
}

/** False when the file was moved or deleted under us: what is written then is lost with it. */
export function isInPlace({ path, inode }: Database): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === inode;
}

function openFile(options: DatabaseOptions): Omit<Opened, "aside"> {
  const { path, driver, migrations: list = migrations } = options;
  refuseOtherThanFile(path);
  const crashed = sizeOf(`${path}-wal`) > 0;
  const lostFrames = crashed ? lostFramesOf(`${path}-wal`) : 0;
  refuseUnusable(options, list);
  closeSync(openSync(path, "a", 0o600));
  const sqlite = new driver.DatabaseSync(path, { enableForeignKeyConstraints: true });
  try {
    configure(sqlite, options.maxPages ?? null);
    migrate(sqlite, { path, migrations: list });
    const schema = expectedSchema(driver, list);
    const present = new Set(schemaOf(sqlite));
    if (!schema.every((line) => present.has(line)))
      throw new StoreFault("damaged", "AP_STORE_CORRUPT", { problem: "its tables are not ours" });
    protectFiles(path);
    return {
      database: withStatements({ sqlite, path, schema, inode: statSync(path).ino, lostFrames }),
      crashed,
    };
  } catch (error) {
    closeQuietly(sqlite);
    throw error;
  }
}

/** SQLite would call a folder a broken disk, and opening a pipe would wait for its other end. */
function refuseOtherThanFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const what = found.isDirectory() ? "a folder" : "not a file";
  throw new StoreFault("reopen", "AP_STORE_IO", { path, problem: `${path} is ${what}` });
}

/** Looks at the file through a connection that cannot write, so that what is not ours stays as it is. */
function refuseUnusable({ path, driver }: DatabaseOptions, list: readonly Migration[]): void {
  if (sizeOf(path) === 0) return;
  const db = new driver.DatabaseSync(path, { readOnly: true });
  try {
    const known = latestFormat(list);
    const found = formatOf(db);
    const ours = readOnce(db, "application_id", "pragma_application_id")[0]?.[0] === APPLICATION_ID;
    const tables = readOnce(db, "name", "sqlite_schema").length;
    if (!ours && tables > 0)
      throw new StoreFault("damaged", "AP_STORE_FOREIGN", { path, problem: "foreign" });
    if (found > known) throw new StoreFault("stop", "AP_STORE_NEWER", { found, known });
    if (found <= 0 && tables > 0)
      throw new StoreFault("damaged", "AP_STORE_CORRUPT", { problem: "it has no format" });
  } finally {
    closeQuietly(db);
  }
}

function configure(db: Sqlite, maxPages: number | null): void {
  // We wait with timers, never inside SQLite: a blocked thread cannot tell anybody why.
  db.exec("PRAGMA busy_timeout = 0");
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA secure_delete = ON");
  db.exec("PRAGMA trusted_schema = OFF");
  db.exec("PRAGMA cell_size_check = ON");
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.exec(`PRAGMA journal_size_limit = ${JOURNAL_BYTES_MAX}`);
  limitPages(db, maxPages);
}

export function limitPages(db: Sqlite, maxPages: number | null): void {
  assert(maxPages === null || maxPages > 0, "a database has at least one page");
  db.exec(`PRAGMA max_page_count = ${maxPages ?? 0xfffffffe}`);
}

function protectFiles(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (existsSync(file)) chmodSync(file, 0o600);
  }
}

/** Keeps the file, its journal and its index together under a new name that says what and when. */
function setAside({ path, now }: DatabaseOptions, kind: AsideKind): string {
  const stamp = now().toISOString().replace(/[:.]/g, "-");
  const name = path.slice(0, path.length - extname(path).length);
  const aside = `${name}.${kind}-${stamp}.db`;
  assert(!existsSync(aside), "a file set aside does not replace another");
  writeStep("aside-rename", () => {
    // The file first: if we die here, SQLite drops a journal it finds beside a fresh file. The other way
    // round the damaged file would be opened without its journal, and pass for an older one.
    for (const suffix of ["", "-wal", "-shm"]) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
    }
  });
  return aside;
}

function withStatements(opened: Omit<Database, "sql" | "known">): Database {
  const prepared = new Map<string, Statement>();
  const sql = (text: string): Statement => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = opened.sqlite.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return { ...opened, sql, known: new Remembered() };
}

export function readPragma(db: Database, name: string): Row[] {
  return db.sqlite.prepare(`PRAGMA ${name}`).all();
}

/**
 * A second connection that sees the database as it is now, however long it looks and whatever is written
 * meanwhile.
 */
export function openReader(db: Database, driver: Driver): Database {
  const sqlite = new driver.DatabaseSync(db.path, { readOnly: true });
  const { path, schema, inode, lostFrames } = db;
  sqlite.exec("PRAGMA busy_timeout = 0");
  sqlite.exec("BEGIN");
  return withStatements({ sqlite, path, schema, inode, lostFrames });
}

/** Moves the journal into the file and empties it. False if somebody still reads from it. */
export function truncateJournal(db: Database): boolean {
  return writeStep("checkpoint", () => readPragma(db, "wal_checkpoint(TRUNCATE)")[0]?.["busy"] === 0);
}

/**
 * Ends its transaction first: one of the drivers keeps a closed connection alive until its statements are
 * collected, and a transaction left open would hold its locks until then.
 */
export function closeQuietly(db: Sqlite): void {
  rollBack(db);
  try {
    db.close();
  } catch {
    // It was closed before, or its file is gone: either way there is nothing left to hold.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
