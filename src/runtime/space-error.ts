import type { ApertureError, Result } from "../base/index.ts";

/** Thrown by a space that is used wrongly or cannot write any more. */
export class SpaceError extends Error {
  readonly code: ApertureError["code"];

  constructor({ code, message }: ApertureError) {
    super(message);
    this.name = "SpaceError";
    this.code = code;
  }
}

export function raise(error: ApertureError): never {
  throw new SpaceError(error);
}

export function unwrapOrThrow<T>(result: Result<T>): T {
  return result.ok ? result.value : raise(result.error);
}
