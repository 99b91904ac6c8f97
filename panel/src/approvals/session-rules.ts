import type { StepRow } from "../api/contract.ts";

type StepFields = Pick<StepRow, "step" | "done" | "said">;

/** The server's text of a step that sets a rule for the session. */
const pattern = /^(?:allowed|denied|required approval of) (\S+ by \S+) in this session$/;

/** The steps whose rule applies in this session: the last one for each actor and verb. */
export function sessionRules<Row extends StepFields>(steps: readonly Row[]): readonly Row[] {
  const found = new Map<string, Row>();
  for (const row of steps) {
    const subject = pattern.exec(row.said ?? "")?.[1];
    if (subject !== undefined && row.done) found.set(subject, row);
  }
  return [...found.values()];
}
