import type { StepRow } from "../api/contract.ts";

type Told = Pick<StepRow, "step" | "done" | "said">;

/** As the server words a step that says something for later. */
const pattern = /^(?:allowed|denied|asked to be asked about) (\S+ by \S+) in this session$/;

/** The steps whose rule holds in this session: the last one about each verb of an actor. */
export function sessionRules<Row extends Told>(steps: readonly Row[]): readonly Row[] {
  const found = new Map<string, Row>();
  for (const row of steps) {
    const about = pattern.exec(row.said ?? "")?.[1];
    if (about !== undefined && row.done) found.set(about, row);
  }
  return [...found.values()];
}
