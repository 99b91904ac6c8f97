import type { Cell } from "../report.ts";
import type { Bill } from "./cache.ts";
import type { PlayedSession } from "./play.ts";
import type { Pruned } from "./prune.ts";
import {
  asPriced,
  billCost,
  type Costs,
  costsOf,
  extraPercent,
  ownParts,
  type Question,
  type SessionCost,
  sum,
} from "./sums.ts";

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
  yield admissionCell(column, sessions);
  yield waitingCell(column, sessions);
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

/** What must not happen to any request. */
function* lawCells(column: string, sessions: readonly SessionCost[]): Generator<Cell> {
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const broken = requests.filter((one) => one.broken !== null);
  const unexplained = broken.filter((one) => one.broken === "unexplained").length;
  const joined = broken.filter((one) => one.broken === "joined").length;
  const shared = { boundMax: 0, unit: "" } as const;
  yield {
    ...shared,
    name: `${column}: breaks that no rewrite explains`,
    figure: unexplained,
    note: `${broken.length} breaks in all, ${((100 * broken.length) / requests.length).toFixed(2)} of 100 requests; ${joined} began to be managed when nothing was cached`,
  };
  const marks = requests.filter(({ hasTooManyMarks }) => hasTooManyMarks).length;
  yield { ...shared, name: `${column}: requests with too many marks`, figure: marks, note: "" };
  const misses = requests.filter(({ isMiss }) => isMiss).length;
  yield { ...shared, name: `${column}: answers that miss a name`, figure: misses, note: "" };
}

/** Ways to leave results out that anybody could think of, priced as the product is. */
export function* prunedCells(sessions: readonly PlayedSession[]): Generator<Cell> {
  const asSent = costsOf(sessions.flatMap(({ columns }) => columns.slice(0, 1))).asSent;
  const rules = new Set(sessions.flatMap(({ pruned }) => pruned.map(({ rule }) => rule)));
  for (const rule of rules) {
    const its = sessions.flatMap(({ pruned }) => pruned.filter((one) => one.rule === rule));
    const cost = (of: (one: Pruned) => Bill): number =>
      sum(its.flatMap(({ requests, prices }) => requests.map((one) => billCost(of(one), prices))));
    const bill = cost((one) => one.bill);
    const charged = bill + cost((one) => one.charge);
    const requests = its.flatMap((one) => one.requests);
    const misses = (100 * requests.filter(({ isMiss }) => isMiss).length) / requests.length;
    yield {
      name: `  without the product, ${rule}: cost`,
      figure: charged / asSent,
      boundMax: null,
      unit: "x",
      note: `${(bill / asSent).toFixed(3)}x before misses are charged; ${misses.toFixed(1)} % of answers miss a name`,
    };
  }
}

/** What the product itself asks of a first request, and of a later one. */
const firstTokensMin = 12_000;
const laterTokensMin = 16_000;

function admissionCell(column: string, sessions: readonly SessionCost[]): Cell {
  const large = sessions.filter(({ streams: [main] }) => (main?.[0]?.clientTokens ?? 0) >= firstTokensMin);
  const left = large.filter(({ streams: [main] }) => main?.[0]?.isManaged !== true);
  return {
    name: `${column}: sessions large enough at once, not managed`,
    figure: left.length,
    boundMax: 0,
    unit: "",
    note: `${large.length} of ${sessions.length} are`,
  };
}

function waitingCell(column: string, sessions: readonly SessionCost[]): Cell {
  const small = sessions.filter(({ streams: [main] }) => (main?.[0]?.clientTokens ?? 0) < firstTokensMin);
  const grown = small.filter(({ streams: [main] }) =>
    main?.some(({ clientTokens }) => clientTokens >= laterTokensMin),
  );
  const left = grown.filter(({ streams: [main] }) => !main?.some(({ isManaged }) => isManaged));
  return {
    name: `${column}: sessions that grew large enough, not managed`,
    figure: left.length,
    boundMax: null,
    unit: "",
    note: `${grown.length} grew; ${left.map(({ name }) => name).join(", ")}`,
  };
}
