import {
  type ApertureError,
  apertureError,
  type ErrorCode,
  type ErrorDetails,
  type Result,
} from "../base/index.ts";
import { FailPointError } from "./fail-points.ts";

/**
 * The writer's reaction to a failing database: `wait` and try the same connection again, `reopen` it and try
 * again, set the file aside because it is `damaged`, or give up for good (`stop`).
 */
export type Remedy = "wait" | "reopen" | "damaged" | "stop";
export type DatabaseFault = { readonly error: ApertureError; readonly remedy: Remedy };

/** A fault found by our own checks and not by SQLite. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  readonly fault: DatabaseFault;

  constructor(remedy: Remedy, code: ErrorCode, details: ErrorDetails) {
    const error = apertureError(code, details);
    super(error.message);
    this.fault = { error, remedy };
  }
}

/**
 * By the low byte of SQLite's result codes. A code that is not listed is reported as AP_STORE_IO and retried.
 */
const FAULTS: Readonly<Record<number, readonly [ErrorCode, Remedy]>> = {
  3: ["AP_STORE_READONLY", "reopen"], // PERM
  5: ["AP_STORE_LOCKED", "wait"], // BUSY, with its recovery and snapshot kinds
  6: ["AP_STORE_LOCKED", "wait"], // LOCKED
  8: ["AP_STORE_READONLY", "reopen"], // READONLY
  10: ["AP_STORE_IO", "reopen"], // IOERR
  11: ["AP_STORE_CORRUPT", "damaged"], // CORRUPT
  13: ["AP_STORE_FULL", "wait"], // FULL
  14: ["AP_STORE_READONLY", "reopen"], // CANTOPEN
  26: ["AP_STORE_CORRUPT", "damaged"], // NOTADB
};

const FILE_CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "AP_STORE_FULL",
  EDQUOT: "AP_STORE_FULL",
  EACCES: "AP_STORE_READONLY",
  EPERM: "AP_STORE_READONLY",
  EROFS: "AP_STORE_READONLY",
  ENOTDIR: "AP_STORE_READONLY",
  EEXIST: "AP_STORE_READONLY",
};

export function faultOf(thrown: unknown, path: string): DatabaseFault {
  if (thrown instanceof StoreFault) return thrown.fault;
  const problem = thrown instanceof Error ? thrown.message : String(thrown);
  const details = { path, problem };
  const [code, remedy] = FAULTS[resultCode(thrown)] ?? [
    FILE_CODES[fileCode(thrown)] ?? "AP_STORE_IO",
    "reopen",
  ];
  return { error: apertureError(code, details), remedy };
}

/** TOOBIG, CONSTRAINT, MISMATCH: errors about a value, not about the file. */
const VALUE_CODES: readonly number[] = [18, 19, 20];

/** True if the batch caused the error, and not the database. */
export function isBatchError(thrown: unknown): boolean {
  if (thrown instanceof StoreFault || thrown instanceof FailPointError) return false;
  const code = resultCode(thrown);
  return code < 0 || VALUE_CODES.includes(code);
}

function resultCode(thrown: unknown): number {
  if (!(thrown instanceof Error) || !("errcode" in thrown) || typeof thrown.errcode !== "number") return -1;
  return thrown.errcode & 0xff;
}

function fileCode(thrown: unknown): string {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return "";
  return thrown.code;
}

/** For work that cannot continue without the value, inside a transaction that is then rolled back. */
export function valueOrThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new StoreFault("wait", result.error.code, result.error.details);
}
