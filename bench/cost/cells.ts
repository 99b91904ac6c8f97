import {
  type CostQuery,
  type CostTotals,
  costsOf,
  defaultCostQuery,
  type SessionCost,
} from "../../src/analysis/play/cost-sums.ts";
import type { Cell } from "../report.ts";
import { extraPercent, ownParts } from "./cost-figures.ts";
import { admissionCell, lawCells, missesCell } from "./law-cells.ts";

export type CellsInput = {
  /** The column as which the sessions were played. */
  readonly column: string;
  readonly sessions: readonly SessionCost[];
  /** Other prices of cache reads, each with the sessions played at it. */
  readonly tables: readonly { readonly read: number; readonly sessions: readonly SessionCost[] }[];
  /** False for a handful of short sessions, whose figures are chance: they are printed without a bound. */
  readonly isJudged: boolean;
};

const totalPercentMax = 4;
const sessionPercentMax = 10;

/** The cost of awareness alone: no commands, and nothing left out. */
export function* managedCells({ column, sessions, tables, isJudged }: CellsInput): Generator<Cell> {
  for (const session of sessions) {
    const name = `${column}, ${session.name}: extra cost`;
    yield extraCell({ name, sessions: [session], boundMax: null });
  }
  const agents = new Set(sessions.map(({ agent }) => agent));
  for (const agent of agents) {
    const its = sessions.filter((session) => session.agent === agent);
    yield extraCell({ name: `${column}, all of ${agent}: extra cost`, sessions: its, boundMax: null });
  }
  yield* totalCells({ column, sessions, tables, isJudged });
  yield* lawCells(column, sessions);
  yield missesCell({ column, sessions, percentMax: 0 });
  yield admissionCell(column, sessions);
}

function* totalCells({ column, sessions, tables, isJudged }: CellsInput): Generator<Cell> {
  const boundMax = isJudged ? totalPercentMax : null;
  yield extraCell({ name: `${column}, all: extra cost`, sessions, boundMax });
  const worst = worstOf(sessions, (its) => extraPercent(costsOf(its)));
  yield {
    name: `${column}, worst session: extra cost`,
    figure: worst.figure,
    boundMax: isJudged ? sessionPercentMax : null,
    unit: "%",
    note: worst.name,
  };
  const others: readonly (readonly [label: string, query: CostQuery])[] = [
    ["always warm", { ...defaultCostQuery, clock: "warm" }],
    ["with output", { ...defaultCostQuery, withOutput: true }],
  ];
  for (const [label, query] of others) {
    const percent = (its: readonly SessionCost[]): number => extraPercent(costsOf(its, query));
    const note = byAgent(sessions, (its) => `${percent(its).toFixed(2)} %`);
    const figure = percent(sessions);
    yield { name: `  ${column}, ${label}: extra cost`, figure, boundMax: null, unit: "%", note };
  }
  for (const table of tables) {
    const isWhole = table.sessions.length === sessions.length;
    if (table.sessions.length > 0) yield* tableCells({ column, table, isJudged: isJudged && isWhole });
  }
}

type TableCellsInput = Pick<CellsInput, "column" | "isJudged"> & {
  readonly table: CellsInput["tables"][number];
};

/** The same bounds at another price of cache reads. */
function* tableCells({ column, table: { read, sessions }, isJudged }: TableCellsInput): Generator<Cell> {
  const query = { ...defaultCostQuery, read };
  const percent = (of: readonly SessionCost[]): number => extraPercent(costsOf(of, query));
  const shared = { name: `${column}, read at ${read}`, unit: "%" } as const;
  const worst = worstOf(sessions, percent);
  yield {
    ...shared,
    name: `${shared.name}: extra cost`,
    figure: percent(sessions),
    boundMax: isJudged ? totalPercentMax : null,
    note: byAgent(sessions, (its) => `${percent(its).toFixed(2)} %`),
  };
  yield {
    ...shared,
    name: `${shared.name}, worst session: extra cost`,
    figure: worst.figure,
    boundMax: isJudged ? sessionPercentMax : null,
    note: worst.name,
  };
}

/** The figures of each agent's sessions in one line. */
export function byAgent(
  sessions: readonly SessionCost[],
  figureText: (its: readonly SessionCost[]) => string,
): string {
  const agents = [...new Set(sessions.map(({ agent }) => agent))];
  return agents
    .map((name) => `${name} ${figureText(sessions.filter(({ agent }) => agent === name))}`)
    .join(", ");
}

function worstOf(sessions: readonly SessionCost[], percent: (of: readonly SessionCost[]) => number) {
  return sessions
    .map((session) => ({ name: session.name, figure: percent([session]) }))
    .reduce((a, b) => (b.figure > a.figure ? b : a));
}

type ExtraCellInput = Pick<CellsInput, "sessions"> & Pick<Cell, "name" | "boundMax">;

function extraCell({ name, sessions, boundMax }: ExtraCellInput): Cell {
  const costs = costsOf(sessions);
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const managed = requests.filter(({ isManaged }) => isManaged).length;
  const note = `${managed} of ${requests.length} requests managed; ${partsText(costs)}`;
  return { name, figure: extraPercent(costs), boundMax, unit: "%", note };
}

function partsText({ own, asSent }: CostTotals): string {
  const parts = ownParts.map((part) => `${part} ${((100 * own[part]) / asSent).toFixed(2)} %`);
  return `${parts.join(", ")} of ${Math.round(asSent / 1000)}k`;
}
