// A long run on a small window: the user speaks once, then come hundreds of calls and results. Whatever has
// to go goes in time, for no other reason, and never what the model is just working on.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { RunTalker, RunWatch, runModel } from "../support/long-run.ts";
import { disagreements, recordOf } from "../support/run-record.ts";
import { isLong } from "../support/runs.ts";

/** Every model has the same small window, for us as for the upstream. */
const window = 100_000;
const windows = [{ pattern: /./, tokens: window }];

/** What is left of the window for the prompt; see `Talker` for what is kept for the answer. */
const room = window - 4_000;
/**
 * How full it is after a rewrite: six tenths are meant, and nobody counts exactly before it is sent. Around a
 * restart, when the provider's own count is not known, it was seen at 0.69.
 */
const relievedMax = 0.72 * room;
/** How full it is before one, without what is new, and how many requests lie between two at least. */
const shortMin = 0.7 * room;
const calmRequests = 5;
const timeout = 600_000;

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  upstream = await startStrictUpstream({ model: runModel(7), windowTokens: window, bodiesKept: 3 });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

/** A busy machine may take its time; what happens after the deadline has tests of its own. */
const patient = { deadlineMs: 20_000, limits: { takeMs: 30_000 } };
const start = (starting: Starting = {}): Promise<TestApp> =>
  startTestApp(upstream.url, { mode: "auto", windows, ...patient, ...starting });

type Run = { readonly talker: RunTalker; readonly watch: RunWatch };
const begin = (model: string): Run => ({
  talker: new RunTalker({ model, seed: 3 }),
  watch: new RunWatch(),
});

async function go({ talker, watch }: Run, requests: number): Promise<void> {
  for (let n = 0; n < requests; n += 1) {
    const answer = await talker.turn(app.url, "Find out why it is slow.");
    watch.look(talker, upstream.exchanges);
    expect(watch.refusals).toEqual([]);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
  }
}

/** What holds of every run, whatever happened to it on its way. */
function expectSafe({ watch }: Run, name: string): void {
  const told = watch.rewrites.map(
    ({ n, from, to, thoughts }) => `${n}: ${from} to ${to}, ${thoughts} thoughts left`,
  );
  const rewrites = told.join("; ");
  console.log(
    `${name}: ${watch.requests} requests, largest prompt ${watch.largest} of ${room} tokens, ` +
      `${watch.rewrites.length} rewrites (${rewrites})`,
  );
  expect(watch.largest).toBeLessThanOrEqual(room);
  expect(watch.changed).toEqual([]);
  expect(watch.rewrites.length).toBeGreaterThan(1);
  expect(watch.rewrites.filter(({ to }) => to > relievedMax)).toEqual([]);
}

/** Room is made when it is short, and once: not again with every request until somebody has noticed. */
function expectCalm({ watch: { rewrites } }: Run): void {
  const again = rewrites.filter(({ n }, at) => n - (rewrites[at - 1]?.n ?? 0) < calmRequests);
  expect(again).toEqual([]);
  expect(rewrites.filter(({ from }) => from < shortMin)).toEqual([]);
}

async function expectRecord({ talker, watch }: Run): Promise<void> {
  const { rewrites, blocks } = await recordOf(app);
  expect(rewrites).toEqual(watch.rewrites.map(({ n }) => ({ exchange: n, reason: "pressure" })));
  expect(disagreements(blocks, talker, upstream.exchanges.at(-1)?.body ?? Buffer.alloc(0))).toEqual([]);
}

it("three hundred requests fit, with a restart in between", { timeout }, async () => {
  app = await start();
  const run = begin("claude-opus-5-5");
  await go(run, 170);
  await expectRecord(run);
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await go(run, 130);
  expectSafe(run, "bound, restarted");
  expectCalm(run);
  await expectRecord(run);
});

it("a model that does not bind its reasoning", { timeout }, async () => {
  app = await start();
  const run = begin("claude-opus-4-6");
  await go(run, isLong ? 300 : 100);
  expectSafe(run, "not bound");
  expectCalm(run);
  await expectRecord(run);
});

it("a log that is stuck leaves it to the desk", { timeout }, async () => {
  app = await start({ faults: { stickAfter: 20, stuckMs: 1_000 } });
  const run = begin("claude-opus-5-5");
  await go(run, isLong ? 300 : 100);
  const { replaced, waitingBytes } = app.engine.status();
  expect(replaced + waitingBytes).toBeGreaterThan(0);
  expectSafe(run, "log stuck");
  expectCalm(run);
});
