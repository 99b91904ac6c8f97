import { createRequire } from "node:module";
import type { SqlValue } from "./row-sum.ts";

/**
 * The part of Node's `DatabaseSync` that is used here. Two modules have it; see
 * docs/decisions/dependencies.md.
 */
export type Sqlite = {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => Statement;
  readonly close: () => void;
  readonly function: (
    name: string,
    options: { readonly varargs: boolean },
    call: (...values: SqlValue[]) => SqlValue,
  ) => void;
};

export type Row = Readonly<Record<string, SqlValue>>;
export type Statement = {
  readonly run: (...values: SqlValue[]) => { readonly changes: number; readonly lastInsertRowid: number };
  readonly get: (...values: SqlValue[]) => Row | undefined;
  readonly all: (...values: SqlValue[]) => Row[];
  readonly iterate: (...values: SqlValue[]) => IterableIterator<Row>;
};

export type SqliteOptions = {
  readonly readOnly?: boolean;
  readonly enableForeignKeyConstraints?: boolean;
};

export type Driver = { readonly DatabaseSync: new (path: string, options?: SqliteOptions) => Sqlite };

const require = createRequire(import.meta.url);

/**
 * Built into Node where it is new enough, else the port of the same code for older ones. Throws if neither
 * loads.
 */
export function loadDriver(): Driver {
  const builtIn = withoutSqliteWarning(() => process.getBuiltinModule?.("node:sqlite"));
  return (builtIn ?? require("@photostructure/sqlite")) as Driver;
}

/** Node announces its own module as experimental on every start. Every other warning passes. */
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
 * The rows of a query, without a statement left behind. One of the drivers keeps a closed connection, its
 * locks and its files until its statements are collected; what is only looked at before it is opened must
 * not stay so.
 */
export function readOnce(db: Sqlite, columns: string, from: string): readonly (readonly SqlValue[])[] {
  const rows: SqlValue[][] = [];
  db.function("aperture_row", { varargs: true }, (...values) => {
    rows.push(values);
    return null;
  });
  db.exec(`SELECT aperture_row(${columns}) FROM ${from}`);
  return rows;
}
