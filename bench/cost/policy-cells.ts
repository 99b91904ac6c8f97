import { sum } from "../../src/analysis/index.ts";
import {
  type CostQuery,
  costsOf,
  defaultCostQuery,
  type SessionCost,
} from "../../src/analysis/play/cost-sums.ts";
import type { TokenBill } from "../../src/analysis/play/simulated-cache.ts";
import type { Cell } from "../report.ts";
import { byAgent, type CellsInput } from "./cells.ts";
import { billCost, median } from "./cost-figures.ts";
import { lawCells, missesCell } from "./law-cells.ts";
import type { PlayedColumns } from "./play-columns.ts";
import type { PrunedRequest } from "./prune.ts";

const costMax = 0.85;
const agentCostMax = 1;
const missPercentMax = 5;
const billErrorPercentMax = 10;

/** The cost with the policy, which leaves out content it expects not to be needed; misses are charged. */
export function* policyCells({ column, sessions, tables, isJudged }: CellsInput): Generator<Cell> {
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
  const others: readonly (readonly [label: string, query: CostQuery])[] = [
    ["always warm", { ...defaultCostQuery, clock: "warm" }],
    ["with output", { ...defaultCostQuery, withOutput: true }],
    ...tables.map(({ read }): [string, CostQuery] => [`read at ${read}`, { ...defaultCostQuery, read }]),
  ];
  for (const [label, query] of others) {
    const ratio = (its: readonly SessionCost[]): number => chargedRatio(its, query);
    const note = byAgent(sessions, (its) => `${ratio(its).toFixed(3)}x`);
    const name = `  ${column}, ${label}: cost`;
    yield { name, figure: ratio(sessions), boundMax: null, unit: "x", note };
  }
  yield missesCell({ column, sessions, percentMax: bound(missPercentMax) });
  yield* lawCells(column, sessions);
  yield billCell(column, sessions);
}

function chargedRatio(sessions: readonly SessionCost[], query: CostQuery): number {
  const { asSent, charged } = costsOf(sessions, query);
  return asSent === 0 ? 1 : charged / asSent;
}

const commandsCostMax = 1.08;

/** The cost without policy, but with a model that uses our tools every few turns. */
export function* commandCells({ column, sessions, isJudged }: CellsInput): Generator<Cell> {
  const boundMax = isJudged ? commandsCostMax : null;
  yield costCell({ name: `${column}, all: cost`, sessions, boundMax });
  for (const agent of new Set(sessions.map((session) => session.agent))) {
    const its = sessions.filter((session) => session.agent === agent);
    yield costCell({ name: `  ${column}, all of ${agent}: cost`, sessions: its, boundMax: null });
  }
  yield missesCell({ column, sessions, percentMax: null });
  yield* lawCells(column, sessions);
}

type CostCellInput = Pick<CellsInput, "sessions"> & Pick<Cell, "name" | "boundMax">;

function costCell({ name, sessions, boundMax }: CostCellInput): Cell {
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

function countsText(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).join(", ") || "none";
}

/** The predicted cost of rewritten prompts against the real one. */
function billCell(column: string, sessions: readonly SessionCost[]): Cell {
  const bills = sessions.flatMap(({ streams, prices }) =>
    streams.flat().flatMap(({ rewrite, managed }) => {
      const predicted = rewrite?.predicted ?? null;
      return predicted === null ? [] : [{ predicted, measured: billCost(managed.timed, prices) }];
    }),
  );
  const errors = bills.map(({ predicted, measured }) => 100 * Math.abs(predicted / measured - 1));
  const predicted = sum(bills.map((bill) => bill.predicted));
  const measured = sum(bills.map((bill) => bill.measured));
  return {
    name: `${column}: predicted bill of all rewrites, off by`,
    figure: bills.length === 0 ? 0 : 100 * Math.abs(predicted / measured - 1),
    boundMax: billErrorPercentMax,
    unit: "%",
    note: `${bills.length} rewrites; half of them within ${median(errors).toFixed(1)} %`,
  };
}

/** The cost of simple rules for leaving results out, for comparison. */
export function* prunedCells(sessions: readonly PlayedColumns[]): Generator<Cell> {
  const asSent = costsOf(sessions.flatMap(({ columns }) => columns["recorded"] ?? [])).asSent;
  const rules = new Set(sessions.flatMap(({ pruned }) => pruned.map(({ rule }) => rule)));
  for (const rule of rules) {
    const its = sessions.flatMap(({ pruned }) => pruned.filter((one) => one.rule === rule));
    const cost = (of: (one: PrunedRequest) => TokenBill): number =>
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
