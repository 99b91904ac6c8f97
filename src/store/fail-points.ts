/**
 * Points where a test makes the process die or throw, one before and one after every write. They do nothing
 * unless the store was opened with `failPoint`.
 */
const steps = [
  "content-insert",
  "session-insert",
  "frame-insert",
  "session-update",
  "body-insert",
  "page-insert",
  "snapshot-insert",
  "page-delete",
  "commit",
  "checkpoint",
  "purge-rewrite",
  "purge-erase",
  "purge-commit",
  "drop-rows",
  "drop-commit",
  "gc-contents",
  "gc-pages",
  "gc-commit",
  "gc-vacuum",
  "backup-write",
  "migration-backup",
  "migration-run",
  "migration-commit",
  "aside-rename",
] as const;

export type FailStep = (typeof steps)[number];
export type FailPointName = `${FailStep}-before` | `${FailStep}-after`;
export const failPointNames: readonly FailPointName[] = steps.flatMap(
  (step) => [`${step}-before`, `${step}-after`] as const,
);

/** `hit` counts from 1: the first, second, ... time the point is passed. */
export type FailPoint = {
  readonly name: FailPointName;
  readonly hit: number;
  readonly action: "kill" | "throw";
};

/** Thrown by a fail point. No code handles it: it simulates a thread that dies. */
export class FailPointError extends Error {
  override readonly name = "FailPointReached";
}

let armed: FailPoint | null = null;
let hits = 0;

/** One per thread: the database belongs to one thread, and so do its fail points. */
export function armFailPoint(point: FailPoint | null): void {
  armed = point;
  hits = 0;
}

/** Does a write, passing the points before and after it. */
export function writeStep<T>(step: FailStep, write: () => T): T {
  if (armed === null) return write();
  passPoint(`${step}-before`);
  const result = write();
  passPoint(`${step}-after`);
  return result;
}

function passPoint(name: FailPointName): void {
  if (armed === null || armed.name !== name) return;
  hits += 1;
  if (hits !== armed.hit) return;
  if (armed.action === "kill") process.kill(process.pid, "SIGKILL");
  throw new FailPointError(name);
}
