import type { Database } from "./database.ts";
import { faultOf } from "./faults.ts";
import type { Damage } from "./store.ts";

/** What a check has counted and found so far. */
export type Tally = {
  sessions: number;
  frames: number;
  contents: number;
  bodies: number;
  pages: number;
  readonly damage: Damage[];
};
export type Check = { readonly db: Database; readonly tally: Tally };

export function openTally(): Tally {
  return { sessions: 0, frames: 0, contents: 0, bodies: 0, pages: 0, damage: [] };
}

/** A report that names every one of a million bad rows helps nobody. */
const DAMAGE_MAX = 1_000;

export function found({ tally }: Check, where: string, problem: string): void {
  if (tally.damage.length < DAMAGE_MAX) tally.damage.push({ where, problem });
}

/**
 * Whatever a damaged database makes the check throw is damage too; only a locked one could not be looked at.
 */
export function* guarded(check: Check, where: string, run: () => Generator<void>): Generator<void> {
  try {
    yield* run();
  } catch (error) {
    foundThrown(check, where, error);
  }
  yield;
}

export function tryRows<T>(check: Check, where: string, read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    foundThrown(check, where, error);
    return [];
  }
}

function foundThrown(check: Check, where: string, error: unknown): void {
  const { error: fault } = faultOf(error, check.db.path);
  if (fault.code === "AP_STORE_LOCKED") throw error;
  found(check, where, error instanceof Error ? error.message : String(error));
}
