import {
  type ApertureError,
  apertureError,
  type Details,
  type ErrorCode,
  type Result,
} from "../base/index.ts";
import { FailPointReached } from "./fail-points.ts";

/**
 * What a failing database means for the writer: `wait` and try the same connection again, `reopen` it and
 * try again, set the file aside because it is `damaged`, or give up for good (`stop`).
 */
export type Remedy = "wait" | "reopen" | "damaged" | "stop";
export type Fault = { readonly error: ApertureError; readonly remedy: Remedy };

/** A fault that we found rather than SQLite. */
export class StoreFault extends Error {
  override readonly name = "StoreFault";
  readonly fault: Fault;

  constructor(remedy: Remedy, code: ErrorCode, details: Details) {
    const error = apertureError(code, details);
    super(error.message);
    this.fault = { error, remedy };
  }
}

/** The low byte of SQLite's result codes; what is not listed is reported as it is and tried again. */
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

export function faultOf(thrown: unknown, path: string): Fault {
  if (thrown instanceof StoreFault) return thrown.fault;
  const problem = thrown instanceof Error ? thrown.message : String(thrown);
  const details = { path, problem };
  const [code, remedy] = FAULTS[resultCode(thrown)] ?? [
    FILE_CODES[fileCode(thrown)] ?? "AP_STORE_IO",
    "reopen",
  ];
  return { error: apertureError(code, details), remedy };
}

/** TOOBIG, CONSTRAINT, MISMATCH: what SQLite says of a value, not of the file. */
const VALUE_CODES: readonly number[] = [18, 19, 20];

/** Whether the batch in hand is to blame, and not the database under it. */
export function isOfTheBatch(thrown: unknown): boolean {
  if (thrown instanceof StoreFault || thrown instanceof FailPointReached) return false;
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

/** For work that cannot go on without the value, inside a transaction that is then rolled back. */
export function valueOrThrow<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new StoreFault("wait", result.error.code, result.error.details);
}
