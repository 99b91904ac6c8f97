// A long run on a small window: one user message, then hundreds of calls and results. Blocks are pruned in
// time, only under pressure, and never those that the model is working on.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { isLong } from "../support/runs.ts";
import { LongRunClient, RunWatch, runModel } from "./long-run.ts";
import { disagreements, recordOf } from "./run-record.ts";

/** Planner and upstream use this window for every model. */
const window = 100_000;
const windows = [{ pattern: /./, tokens: window }];

/** The window without the tokens that `Talker` reserves for the answer. */
const promptMax = window - 4_000;
/**
 * The prompt after a rewrite. The target is 0.6 of the room, but sizes before sending are estimates: after a
 * restart, when the provider's count is unknown, 0.69 was seen.
 */
const afterRewriteMax = 0.72 * promptMax;
/** The prompt before a rewrite, without its new content. */
const beforeRewriteMin = 0.7 * promptMax;
/** The fewest requests between two rewrites. */
const requestsBetweenMin = 5;

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  upstream = await startStrictUpstream({ model: runModel(7), windowTokens: window, bodiesKept: 3 });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

/** Deadlines for a busy machine; missed deadlines have tests of their own. */
const patient = { deadlineMs: 20_000, limits: { planMs: 30_000 } };
const start = (starting: Starting = {}): Promise<TestApp> =>
  startTestApp(upstream.url, { mode: "auto", windows, ...patient, ...starting });

type Run = { readonly talker: LongRunClient; readonly watch: RunWatch };
const newRun = (model: string): Run => ({
  talker: new LongRunClient({ model, seed: 3 }),
  watch: new RunWatch(),
});

async function play({ talker, watch }: Run, requests: number): Promise<void> {
  for (let n = 0; n < requests; n += 1) {
    const answer = await talker.turn(app.url, "Find out why it is slow.");
    watch.look(talker, upstream.exchanges);
    expect(watch.refusals).toEqual([]);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
  }
}

/** Holds for every run. */
function expectFits({ watch }: Run, name: string): void {
  const descriptions = watch.rewrites.map(
    ({ n, from, to, thoughts }) => `${n}: ${from} to ${to}, ${thoughts} thoughts left`,
  );
  const rewrites = descriptions.join("; ");
  console.log(
    `${name}: ${watch.requests} requests, largest prompt ${watch.largest} of ${promptMax} tokens, ` +
      `${watch.rewrites.length} rewrites (${rewrites})`,
  );
  expect(watch.largest).toBeLessThanOrEqual(promptMax);
  expect(watch.changed).toEqual([]);
  expect(watch.rewrites.length).toBeGreaterThan(1);
  expect(watch.rewrites.filter(({ to }) => to > afterRewriteMax)).toEqual([]);
}

/** A rewrite happens only under pressure, and not again with each of the next requests. */
function expectFewRewrites({ watch: { rewrites } }: Run): void {
  const tooSoon = rewrites.filter(({ n }, at) => n - (rewrites[at - 1]?.n ?? 0) < requestsBetweenMin);
  expect(tooSoon).toEqual([]);
  expect(rewrites.filter(({ from }) => from < beforeRewriteMin)).toEqual([]);
}

async function expectRecord({ talker, watch }: Run): Promise<void> {
  const { rewrites, blocks } = await recordOf(app);
  expect(rewrites).toEqual(watch.rewrites.map(({ n }) => ({ exchange: n, reason: "pressure" })));
  expect(disagreements(blocks, talker, upstream.exchanges.at(-1)?.body ?? Buffer.alloc(0))).toEqual([]);
}

it("requests fit into the window, with a restart in between", async () => {
  app = await start();
  const run = newRun("claude-opus-5-5");
  await play(run, isLong ? 170 : 75);
  await expectRecord(run);
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await play(run, isLong ? 130 : 50);
  expectFits(run, "bound, restarted");
  expectFewRewrites(run);
  await expectRecord(run);
});

it("requests of a model without bound reasoning fit into the window", async () => {
  app = await start();
  const run = newRun("claude-opus-4-6");
  await play(run, isLong ? 300 : 100);
  expectFits(run, "not bound");
  expectFewRewrites(run);
  await expectRecord(run);
});

it("requests fit into the window while the log is stuck", async () => {
  app = await start({ faults: { stickAfter: 20, stuckMs: 1_000 } });
  const run = newRun("claude-opus-5-5");
  await play(run, isLong ? 300 : 100);
  const { replaced, waitingBytes } = app.engine.status();
  expect(replaced + waitingBytes).toBeGreaterThan(0);
  expectFits(run, "log stuck");
  expectFewRewrites(run);
});
