import type { Database } from "./database.ts";
import { faultOf } from "./database-faults.ts";
import type { Damage } from "./store.ts";

/** The counts and damage of a verification so far. */
export type VerifyTally = {
  sessions: number;
  frames: number;
  contents: number;
  bodies: number;
  pages: number;
  readonly damage: Damage[];
};
export type Verification = { readonly db: Database; readonly tally: VerifyTally };

export function emptyTally(): VerifyTally {
  return { sessions: 0, frames: 0, contents: 0, bodies: 0, pages: 0, damage: [] };
}

/** Damage beyond this is not listed: a report with a million bad rows is useless. */
const DAMAGE_MAX = 1_000;

export function reportDamage({ tally }: Verification, where: string, problem: string): void {
  if (tally.damage.length < DAMAGE_MAX) tally.damage.push({ where, problem });
}

/**
 * Reports anything a check throws as damage. Only a lock is thrown on: a locked database could not be
 * checked.
 */
export function* catchDamage(
  check: Verification,
  where: string,
  run: () => Generator<void>,
): Generator<void> {
  try {
    yield* run();
  } catch (error) {
    reportThrown(check, where, error);
  }
  yield;
}

export function tryRows<T>(check: Verification, where: string, read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    reportThrown(check, where, error);
    return [];
  }
}

function reportThrown(check: Verification, where: string, error: unknown): void {
  const { error: fault } = faultOf(error, check.db.path);
  if (fault.code === "AP_STORE_LOCKED") throw error;
  reportDamage(check, where, error instanceof Error ? error.message : String(error));
}
