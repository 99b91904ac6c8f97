import { createRequire } from "node:module";
import type { SqlValue } from "./row-sum.ts";

/**
 * The part of Node's `DatabaseSync` that is used here. Two modules provide it; see
 * docs/decisions/dependencies.md.
 */
export type Sqlite = {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => SqlStatement;
  readonly close: () => void;
  readonly function: (
    name: string,
    options: { readonly varargs: boolean },
    call: (...values: SqlValue[]) => SqlValue,
  ) => void;
};

export type SqlRow = Readonly<Record<string, SqlValue>>;
export type SqlStatement = {
  readonly run: (...values: SqlValue[]) => { readonly changes: number; readonly lastInsertRowid: number };
  readonly get: (...values: SqlValue[]) => SqlRow | undefined;
  readonly all: (...values: SqlValue[]) => SqlRow[];
  readonly iterate: (...values: SqlValue[]) => IterableIterator<SqlRow>;
};

export type SqliteOptions = {
  readonly readOnly?: boolean;
  readonly enableForeignKeyConstraints?: boolean;
};

export type Driver = { readonly DatabaseSync: new (path: string, options?: SqliteOptions) => Sqlite };

const require = createRequire(import.meta.url);

/**
 * Loads the driver built into newer versions of Node, else the package that ports the same code to older
 * ones. Throws if neither loads.
 */
export function loadDriver(): Driver {
  const builtIn = withoutSqliteWarning(() => process.getBuiltinModule?.("node:sqlite"));
  return (builtIn ?? require("@photostructure/sqlite")) as Driver;
}

/** Silences the warning that Node's own module is experimental. Every other warning passes. */
function withoutSqliteWarning<T>(load: () => T): T {
  const { emitWarning } = process;
  const filtered = (warning: string | Error, ...rest: unknown[]): void => {
    const text = warning instanceof Error ? warning.message : warning;
    if (/sqlite/i.test(text) && rest.some(isExperimental)) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = filtered as typeof emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isExperimental(detail: unknown): boolean {
  if (typeof detail === "string") return detail === "ExperimentalWarning";
  return (
    typeof detail === "object" && detail !== null && "type" in detail && detail.type === "ExperimentalWarning"
  );
}

/**
 * The rows of a query, without a prepared statement left behind. One of the drivers keeps a closed
 * connection, its locks and its files until its statements are garbage-collected; a file that is only
 * inspected must not stay locked.
 */
export function selectOnce(db: Sqlite, columns: string, from: string): readonly (readonly SqlValue[])[] {
  const rows: SqlValue[][] = [];
  db.function("aperture_row", { varargs: true }, (...values) => {
    rows.push(values);
    return null;
  });
  db.exec(`SELECT aperture_row(${columns}) FROM ${from}`);
  return rows;
}
