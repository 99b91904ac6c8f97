import { AssertionFault } from "./assert.ts";
import { type ApertureError, apertureError, type ErrorCode, type ErrorDetails } from "./errors.ts";

/** Operating errors are values: a function that can be refused says so in its type. */
export type Result<T> = Ok<T> | Fail;
export type Ok<T> = { readonly ok: true; readonly value: T };
export type Fail = { readonly ok: false; readonly error: ApertureError };

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function fail(code: ErrorCode, details: ErrorDetails = {}): Fail {
  return { ok: false, error: apertureError(code, details) };
}

/** For callers that have already checked: a failure here is our own bug. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new AssertionFault(`${result.error.code}: ${result.error.message}`);
}
