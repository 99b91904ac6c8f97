import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname, extname } from "node:path";
import { assert } from "../base/index.ts";
import { faultOf, StoreFault } from "./database-faults.ts";
import { type Driver, type Sqlite, type SqlRow, type SqlStatement, selectOnce } from "./driver.ts";
import { writeStep } from "./fail-points.ts";
import {
  expectedSchema,
  formatOf,
  latestFormat,
  type Migration,
  migrate,
  migrations,
  rollBack,
} from "./migrations.ts";
import { TableCache } from "./table-cache.ts";
import { APPLICATION_ID, schemaOf } from "./table-schema.ts";
import { lostFramesOf } from "./wal-check.ts";

/** An open database. Statements are prepared once. */
export type Database = {
  readonly sqlite: Sqlite;
  readonly path: string;
  /** The expected schema of its tables. */
  readonly schema: readonly string[];
  /** Used to check that the path still leads to the open file. */
  readonly inode: number;
  /** Journal frames that were committed but could not be read when it was opened. */
  readonly lostFrames: number;
  readonly sql: (text: string) => SqlStatement;
  readonly cache: TableCache;
};

export type DatabaseOptions = {
  readonly path: string;
  readonly driver: Driver;
  /** Dates the name of a file that is set aside. */
  readonly now: () => Date;
  /** Caps the size of the file; null is no cap. */
  readonly maxPages?: number | null;
  readonly migrations?: readonly Migration[];
};

export type OpenedDatabase = {
  readonly database: Database;
  /** The unusable file that was set aside, and the path it was moved to. */
  readonly aside: { readonly kind: AsideKind; readonly path: string; readonly problem: string } | null;
  /** True if the last process that used the file did not close it. */
  readonly crashed: boolean;
};
export type AsideKind = "damaged" | "foreign";

/** The journal is copied into the file after this many pages, and cut to this size when it starts over. */
const CHECKPOINT_PAGES = 512;
const JOURNAL_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Opens or creates the database. Throws errors that `faultOf` understands; an unusable file is set aside
 * first.
 */
export function openDatabase(options: DatabaseOptions): OpenedDatabase {
  makeDataDirectory(options.path);
  try {
    return { ...openFile(options), aside: null };
  } catch (error) {
    const { error: cause, remedy } = faultOf(error, options.path);
    if (remedy !== "damaged") throw error;
    const kind = cause.code === "AP_STORE_FOREIGN" ? "foreign" : "damaged";
    const path = setAside(options, kind);
    return { ...openFile(options), aside: { kind, path, problem: String(cause.details["problem"]) } };
  }
}

/** Sets aside a file that opened well and turned out to be damaged later, and starts a new one. */
export function replaceDatabase(options: DatabaseOptions, problem: string): OpenedDatabase {
  const path = setAside(options, "damaged");
  return { ...openFile(options), aside: { kind: "damaged", path, problem } };
}

/** False if the file was moved or deleted while open: anything written to it then is lost. */
export function isInPlace({ path, inode }: Database): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === inode;
}

function openFile(options: DatabaseOptions): Omit<OpenedDatabase, "aside"> {
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
    if (!schema.every((object) => present.has(object)))
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

/** SQLite would report a folder as a broken disk, and opening a pipe would wait for its other end. */
function refuseOtherThanFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  const what = stats.isDirectory() ? "a folder" : "not a file";
  throw new StoreFault("reopen", "AP_STORE_IO", { path, problem: `${path} is ${what}` });
}

/** Inspects the file through a read-only connection, so that a file that is not ours stays as it is. */
function refuseUnusable({ path, driver }: DatabaseOptions, list: readonly Migration[]): void {
  if (sizeOf(path) === 0) return;
  const db = new driver.DatabaseSync(path, { readOnly: true });
  try {
    const known = latestFormat(list);
    const found = formatOf(db);
    const ours = selectOnce(db, "application_id", "pragma_application_id")[0]?.[0] === APPLICATION_ID;
    const tables = selectOnce(db, "name", "sqlite_schema").length;
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
  // We wait with timers, never inside SQLite: a blocked thread cannot report why it waits.
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

/** Renames the file with its journal and index, to a name that says why and when. */
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

function withStatements(opened: Omit<Database, "sql" | "cache">): Database {
  const prepared = new Map<string, SqlStatement>();
  const sql = (text: string): SqlStatement => {
    const cached = prepared.get(text);
    if (cached !== undefined) return cached;
    const statement = opened.sqlite.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return { ...opened, sql, cache: new TableCache() };
}

export function readPragma(db: Database, name: string): SqlRow[] {
  return db.sqlite.prepare(`PRAGMA ${name}`).all();
}

/**
 * A second connection that keeps seeing the database as it is now, however long it reads and whatever is
 * written meanwhile.
 */
export function openReader(db: Database, driver: Driver): Database {
  const sqlite = new driver.DatabaseSync(db.path, { readOnly: true });
  const { path, schema, inode, lostFrames } = db;
  sqlite.exec("PRAGMA busy_timeout = 0");
  sqlite.exec("BEGIN");
  return withStatements({ sqlite, path, schema, inode, lostFrames });
}

/** Moves the journal into the file and empties it. False if another connection still reads from it. */
export function truncateJournal(db: Database): boolean {
  return writeStep("checkpoint", () => readPragma(db, "wal_checkpoint(TRUNCATE)")[0]?.["busy"] === 0);
}

/**
 * Ends the transaction first: one of the drivers keeps a closed connection alive until its statements are
 * garbage-collected, and an open transaction would hold its locks until then.
 */
export function closeQuietly(db: Sqlite): void {
  rollBack(db);
  try {
    db.close();
  } catch {
    // It was closed before, or its file is gone: either way nothing is left to close.
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Creates the folder of a database, closed to other users. An existing folder is closed too if it holds only
 * our files; if it holds others, their permissions are not ours to change.
 */
function makeDataDirectory(databasePath: string): void {
  const folder = dirname(databasePath);
  if (existsSync(folder)) {
    closeToOthers(folder, databasePath);
    return;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Removes the permissions of other users and adds none for the owner: a read-only folder stays read-only. */
function closeToOthers(folder: string, databasePath: string): void {
  try {
    const { mode, uid } = statSync(folder);
    if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return;
    const files = databaseFileNames(databasePath);
    if (readdirSync(folder).every((name) => files.test(name))) chmodSync(folder, mode & 0o700);
  } catch {
    // A folder that cannot be read is left alone; opening the database reports what is wrong with it.
  }
}

/** Matches the database, its journal and index, and the files `setAside` and `copyAside` put beside it. */
function databaseFileNames(databasePath: string): RegExp {
  const name = basename(databasePath);
  const stem = name.slice(0, name.length - extname(name).length);
  const asideName = `${escapeRegExp(stem)}\\.(damaged|foreign)-[0-9TZ-]+\\.db`;
  return new RegExp(
    `^(${escapeRegExp(name)}|${asideName})(-wal|-shm|-journal)?$|^${escapeRegExp(name)}\\.format-\\d+\\.bak(\\.new)?$`,
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
