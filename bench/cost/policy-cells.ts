import type { Bill } from "../../src/analysis/index.ts";
import {
  asPriced,
  billCost,
  costsOf,
  median,
  type Question,
  type SessionCost,
  sum,
} from "../../src/analysis/index.ts";
import type { Cell } from "../report.ts";
import { byAgent, type CellsAsked } from "./cells.ts";
import { lawCells, missesCell } from "./law-cells.ts";
import type { PlayedSession } from "./play.ts";
import type { Pruned } from "./prune.ts";

const costMax = 0.85;
const agentCostMax = 1;
const missPercentMax = 5;
const billErrorPercentMax = 10;

/** What it costs when the product leaves out what it thinks will not be needed, misses charged. */
export function* policyCells({ column, sessions, tables, isJudged }: CellsAsked): Generator<Cell> {
  const bound = (max: number): number | null => (isJudged ? max : null);
  for (const session of sessions)
    yield costCell({ name: `${column}, ${session.name}: cost`, sessions: [session], boundMax: null });
  const agents = new Set(sessions.map(({ agent }) => agent));
  for (const agent of agents) {
    const its = sessions.filter((session) => session.agent === agent);
    yield costCell({
      name: `${column}, all of ${agent}: cost`,
      sessions: its,
      boundMax: bound(agentCostMax),
    });
  }
  yield costCell({ name: `${column}, all: cost`, sessions, boundMax: bound(costMax) });
  const others: readonly (readonly [words: string, question: Question])[] = [
    ["always warm", { ...asPriced, clock: "warm" }],
    ["with output", { ...asPriced, withOutput: true }],
    ...tables.map(({ read }): [string, Question] => [`read at ${read}`, { ...asPriced, read }]),
  ];
  for (const [words, question] of others) {
    const ratio = (its: readonly SessionCost[]): number => chargedRatio(its, question);
    const note = byAgent(sessions, (its) => `${ratio(its).toFixed(3)}x`);
    const name = `  ${column}, ${words}: cost`;
    yield { name, figure: ratio(sessions), boundMax: null, unit: "x", note };
  }
  yield missesCell({ column, sessions, percentMax: bound(missPercentMax) });
  yield* lawCells(column, sessions);
  yield billCell(column, sessions);
}

function chargedRatio(sessions: readonly SessionCost[], question: Question): number {
  const { asSent, charged } = costsOf(sessions, question);
  return asSent === 0 ? 1 : charged / asSent;
}

const commandsCostMax = 1.08;

/** The same where the model uses our tools every few turns and nothing happens by itself. */
export function* commandCells({ column, sessions, isJudged }: CellsAsked): Generator<Cell> {
  const boundMax = isJudged ? commandsCostMax : null;
  yield costCell({ name: `${column}, all: cost`, sessions, boundMax });
  for (const agent of new Set(sessions.map((session) => session.agent))) {
    const its = sessions.filter((session) => session.agent === agent);
    yield costCell({ name: `  ${column}, all of ${agent}: cost`, sessions: its, boundMax: null });
  }
  yield missesCell({ column, sessions, percentMax: null });
  yield* lawCells(column, sessions);
}

type CostAsked = Pick<CellsAsked, "sessions"> & Pick<Cell, "name" | "boundMax">;

function costCell({ name, sessions, boundMax }: CostAsked): Cell {
  const { asSent, managed, charged } = costsOf(sessions);
  const requests = sessions.flatMap(({ streams }) => streams.flat());
  const rewrites = requests.flatMap(({ rewrite }) => (rewrite === null ? [] : [rewrite.reason]));
  const misses = requests.filter(({ isMiss }) => isMiss).length;
  const tokens = (of: "asSent" | "managed"): number =>
    sum(requests.map((one) => one[of].timed.read + one[of].timed.written + one[of].timed.fresh));
  const note = [
    `${(managed / asSent).toFixed(3)}x before misses are charged`,
    `${misses} of ${requests.length} answers miss a name`,
    `${Math.round((100 * tokens("managed")) / tokens("asSent"))} % of the tokens sent`,
    `rewrites: ${countsText(rewrites)}`,
  ].join("; ");
  return { name, figure: charged / asSent, boundMax, unit: "x", note };
}

function countsText(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(", ") || "none";
}

/** What the product expected its rewritten prompts to cost, against what they did. */
function billCell(column: string, sessions: readonly SessionCost[]): Cell {
  const bills = sessions.flatMap(({ streams, prices }) =>
    streams.flat().flatMap(({ rewrite, managed }) => {
      const predicted = rewrite?.predicted ?? null;
      return predicted === null ? [] : [{ predicted, seen: billCost(managed.timed, prices) }];
    }),
  );
  const errors = bills.map(({ predicted, seen }) => 100 * Math.abs(predicted / seen - 1));
  const predicted = sum(bills.map((bill) => bill.predicted));
  const seen = sum(bills.map((bill) => bill.seen));
  return {
    name: `${column}: predicted bill of all rewrites, off by`,
    figure: bills.length === 0 ? 0 : 100 * Math.abs(predicted / seen - 1),
    boundMax: billErrorPercentMax,
    unit: "%",
    note: `${bills.length} rewrites; half of them within ${median(errors).toFixed(1)} %`,
  };
}

/** Ways to leave results out that anybody could think of, priced as the product is. */
export function* prunedCells(sessions: readonly PlayedSession[]): Generator<Cell> {
  const asSent = costsOf(sessions.flatMap(({ columns }) => columns["recorded"] ?? [])).asSent;
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
