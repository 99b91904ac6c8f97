// Compares the bills predicted from the price table with the usage that recorded answers report.
import { expect, test } from "vitest";
import { pricesOf } from "../../src/config/index.ts";
import { billError, measuredInput, promptPrice } from "../../src/policy/index.ts";
import { type RecordedTurn, readRecording, recordingNames } from "../support/recordings.ts";

type ReportedTurn = {
  readonly model: string;
  readonly timeMs: number;
  readonly isAppended: boolean;
  readonly usage: { readonly in: number; readonly cr: number; readonly cw: number; readonly out: number };
};

function reportedTurns(turn: RecordedTurn): readonly ReportedTurn[] {
  const { model, usage, t } = (turn.m ?? {}) as NonNullable<RecordedTurn["m"]> & { readonly t?: string };
  if (model === undefined || usage === undefined || t === undefined) return [];
  return [{ model, usage, timeMs: Date.parse(t), isAppended: turn.k === undefined }];
}

function promptOf({ usage }: ReportedTurn): number {
  return usage.in + usage.cr + usage.cw;
}

/** The cache should read everything that the request before had, and write the rest. */
function errorsOf(turns: readonly ReportedTurn[]): readonly number[] {
  return turns.flatMap((turn, at) => {
    const before = turns[at - 1];
    const prices = pricesOf(turn.model);
    const isNext = before !== undefined && turn.isAppended && promptOf(turn) >= promptOf(before);
    if (!isNext || turn.timeMs - before.timeMs > prices.cache.lifetimeMs) return [];
    const read = promptOf(before);
    const predicted = promptPrice({ read, written: promptOf(turn) - read, fresh: 0, output: 0 }, prices);
    const { in: input, cr: cacheRead, cw: cacheWrite, out: output } = turn.usage;
    const measured = measuredInput({ input, cacheRead, cacheWrite, output }, prices);
    return [Math.abs(billError(predicted, measured).ratio ?? 0)];
  });
}

const sessions = recordingNames().map((name) => readRecording(name).turns.flatMap(reportedTurns));
const documented = sessions.filter(([first]) => pricesOf(first?.model ?? null).provider === "anthropic");

/** The small set in the repository has only a model whose prices are guessed. */
const limits = documented.length > 0 ? { median: 0.01, p90: 0.1 } : { median: 0.1, p90: 0.2 };

test("the bill of a request with a warm cache is predicted", () => {
  const known = documented.length > 0 ? documented : sessions;
  const errors = known.flatMap(errorsOf).sort((one, other) => one - other);
  const [median = 1, p90 = 1] = [0.5, 0.9].map((part) => errors[Math.floor(errors.length * part)]);
  console.log(`bills of ${errors.length} requests: median error ${percent(median)}, p90 ${percent(p90)}`);
  expect(errors.length).toBeGreaterThan(5);
  expect(median).toBeLessThan(limits.median);
  expect(p90).toBeLessThan(limits.p90);
});

function percent(part: number): string {
  return `${(part * 100).toFixed(2)} %`;
}
