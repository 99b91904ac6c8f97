import type { StepRow } from "../api/contract.ts";

/** The announced text of each step, by its number; null if the step had no text yet. */
export type AnnouncedSteps = ReadonlyMap<number, string | null>;

type StepFields = Pick<StepRow, "step" | "seq" | "done" | "said">;

export type NewSteps<Row extends StepFields> = {
  /** Steps to announce now: new, or with a changed text. */
  readonly fresh: readonly Row[];
  readonly announced: AnnouncedSteps;
};

/**
 * Finds the steps after `since` that are not announced yet. A step of the model grows with each command of
 * its turn and is announced again; undo, redo and a new token count do not announce it again.
 */
export function findNewSteps<Row extends StepFields>(
  before: AnnouncedSteps,
  rows: readonly Row[],
  since: number,
): NewSteps<Row> {
  const textOf = ({ step, said }: Row): string | null => said ?? before.get(step) ?? null;
  const isNew = (row: Row): boolean =>
    before.has(row.step) ? textOf(row) !== before.get(row.step) : row.seq > since;
  return {
    fresh: rows.filter((row) => row.done && isNew(row)),
    announced: new Map(rows.map((row) => [row.step, textOf(row)])),
  };
}
