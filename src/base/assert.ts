/**
 * A broken promise inside Aperture. It aborts the turn that met it, never the process: the code that drives
 * the turn catches it, falls back to the client's own bytes, and records a fault.
 */
export class AssertionFault extends Error {
  override readonly name = "AssertionFault";
}

export function assert(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new AssertionFault(promise);
}

/** For the `default` branch of a switch: a new member of the union fails to compile everywhere it matters. */
export function unreachable(value: never): never {
  throw new AssertionFault(`unreachable: ${JSON.stringify(value)}`);
}

/** Reads a value that must be there. */
export function must<T>(value: T | null | undefined, promise: string): T {
  assert(value !== null && value !== undefined, promise);
  return value;
}
