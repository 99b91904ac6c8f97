import type { StepRow } from "../api/contract.ts";

/** What was said of each step, by its number; null: it had no words yet. */
export type Said = ReadonlyMap<number, string | null>;

type Heard = Pick<StepRow, "step" | "seq" | "done" | "said">;

export type Unsaid<Row extends Heard> = {
  /** To be said now: new since somebody looks, or grown since it was said. */
  readonly fresh: readonly Row[];
  readonly said: Said;
};

/**
 * All commands of a model's turn are one step, which grows while they come. What it frees is counted anew by
 * and by, and is no reason to say it again; nor is that it was taken back, or taken up again.
 */
export function unsaidIn<Row extends Heard>(before: Said, rows: readonly Row[], since: number): Unsaid<Row> {
  const wordsOf = ({ step, said }: Row): string | null => said ?? before.get(step) ?? null;
  const isNew = (row: Row): boolean =>
    before.has(row.step) ? wordsOf(row) !== before.get(row.step) : row.seq > since;
  return {
    fresh: rows.filter((row) => row.done && isNew(row)),
    said: new Map(rows.map((row) => [row.step, wordsOf(row)])),
  };
}
