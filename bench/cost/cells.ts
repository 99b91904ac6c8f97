import {
  asPriced,
  type Costs,
  costsOf,
  extraPercent,
  ownParts,
  type Question,
  type SessionCost,
} from "../../src/analysis/index.ts";
import type { Cell } from "../report.ts";
import { admissionCell, lawCells, missesCell } from "./law-cells.ts";

export type CellsAsked = {
  /** What the sessions were played as. */
  readonly column: string;
  readonly sessions: readonly SessionCost[];
  readonly readPrices: readonly number[];
  /** In a handful of short sessions everything is chance: figures are told, not judged. */
  readonly isJudged: boolean;
};

const totalPercentMax = 4;
const sessionPercentMax = 10;

/** What awareness alone costs: nothing was asked for, nothing left out. */
export function* managedCells({ column, sessions, readPrices, isJudged }: CellsAsked): Generator<Cell> {
  for (const session of sessions) {
    const name = `${column}, ${session.name}: extra cost`;
    yield extraCell({ name, sessions: [session], boundMax: null });
  }
  const agents = new Set(sessions.map(({ agent }) => agent));
  for (const agent of agents) {
    const its = sessions.filter((session) => session.agent === agent);
    yield extraCell({ name: `${column}, all of ${agent}: extra cost`, sessions: its, boundMax: null });
  }
  yield* totalCells({ column, sessions, readPrices, isJudged });
  yield* lawCells(column, sessions);
  yield missesCell({ column, sessions, percentMax: 0 });
  yield admissionCell(column, sessions);
}

function* totalCells({ column, sessions, readPrices, isJudged }: CellsAsked): Generator<Cell> {
  const boundMax = isJudged ? totalPercentMax : null;
  yield extraCell({ name: `${column}, all: extra cost`, sessions, boundMax });
  const worst = sessions
    .map((session) => ({ name: session.name, figure: extraPercent(costsOf([session])) }))
    .reduce((a, b) => (b.figure > a.figure ? b : a));
  yield {
    name: `${column}, worst session: extra cost`,
    figure: worst.figure,
    boundMax: isJudged ? sessionPercentMax : null,
    unit: "%",
    note: worst.name,
  };
  const others: readonly (readonly [words: string, question: Question])[] = [
    ["always warm", { ...asPriced, clock: "warm" }],
    ["with output", { ...asPriced, withOutput: true }],
    ...readPrices.map((read): [string, Question] => [`read at ${read}`, { ...asPriced, read }]),
  ];
  for (const [words, question] of others) {
    const figure = extraPercent(costsOf(sessions, question));
    yield { name: `  ${column}, ${words}: extra cost`, figure, boundMax: null, unit: "%", note: "" };
  }
}

type ExtraAsked = Pick<CellsAsked, "sessions"> & Pick<Cell, "name" | "boundMax">;

function extraCell({ name, sessions, boundMax }: ExtraAsked): Cell {
  const costs = costsOf(sessions);
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const managed = requests.filter(({ isManaged }) => isManaged).length;
  const note = `${managed} of ${requests.length} requests managed; ${partsText(costs)}`;
  return { name, figure: extraPercent(costs), boundMax, unit: "%", note };
}

function partsText({ own, asSent }: Costs): string {
  const parts = ownParts.map((part) => `${part} ${((100 * own[part]) / asSent).toFixed(2)} %`);
  return `${parts.join(", ")} of ${Math.round(asSent / 1000)}k`;
}
