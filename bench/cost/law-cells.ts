import type { SessionCost } from "../../src/analysis/play/cost-sums.ts";
import { managedFromTokens } from "../../src/host/index.ts";
import type { Cell } from "../report.ts";

/** Counts of things that must not happen to any request. */
export function* lawCells(column: string, sessions: readonly SessionCost[]): Generator<Cell> {
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const broken = requests.filter((one) => one.broken !== null);
  const count = (why: string): number => broken.filter((one) => one.broken === why).length;
  const share = ((100 * broken.length) / requests.length).toFixed(2);
  const shared = { boundMax: 0, unit: "" } as const;
  yield {
    ...shared,
    name: `${column}: breaks that no rewrite explains`,
    figure: count("unexplained"),
    note: `${share} breaks in 100 requests: ${count("rewritten")} rewrites, ${count("joined")} first managed when nothing was cached`,
  };
  const marks = requests.filter(({ hasTooManyMarks }) => hasTooManyMarks).length;
  yield { ...shared, name: `${column}: requests with too many marks`, figure: marks, note: "" };
}

export type MissesCellInput = {
  readonly column: string;
  readonly sessions: readonly SessionCost[];
  readonly percentMax: number | null;
};

export function missesCell({ column, sessions, percentMax }: MissesCellInput): Cell {
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const misses = requests.filter(({ isMiss }) => isMiss).length;
  return {
    name: `${column}: answers that miss a name`,
    figure: (100 * misses) / requests.length,
    boundMax: percentMax,
    unit: "%",
    note: `${misses} of ${requests.length}`,
  };
}

/** A tenth more than the planner requires of a stream, because estimates differ. */
const sizeFactor = 1.1;

export function admissionCell(column: string, sessions: readonly SessionCost[]): Cell {
  const mains = sessions.map(({ name, agent, streams: [main] }) => ({
    name,
    from: main?.findIndex(({ isManaged }) => isManaged) ?? -1,
    most: Math.max(0, ...(main ?? []).map(({ clientTokens }) => clientTokens)),
    least: managedFromTokens(agent) * sizeFactor,
  }));
  const never = mains.filter(({ from }) => from === -1);
  const left = never.filter(({ most, least }) => most >= least);
  const atOnce = mains.filter(({ from }) => from === 0).length;
  const later = mains.filter(({ from }) => from > 0).length;
  const small = never.map(({ name, most }) => `${name} (at most ${Math.round(most / 1000)}k tokens)`);
  return {
    name: `${column}: large sessions that are never managed`,
    figure: left.length,
    boundMax: 0,
    unit: "",
    note: `of ${mains.length} sessions ${atOnce} at once, ${later} later, never: ${small.join(", ") || "none"}`,
  };
}
