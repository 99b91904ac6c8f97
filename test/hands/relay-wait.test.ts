// While commands run, the client is kept alive; once it has left, nothing more is done for it.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { PlannedRequest } from "../../src/exchange/index.ts";
import { type FakePlanner, fakePlanner, managedPlan } from "../relay/fake-planner.ts";
import { startRelay, startUpstream, type TestRelay, type TestUpstream, until } from "../relay/harness.ts";
import { ask, modelHeaders } from "../support/app.ts";
import { parseAnswer } from "../support/parse-answer.ts";

const encodeEvent = (data: { readonly type: string; readonly [field: string]: unknown }): Buffer =>
  Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

let upstream: TestUpstream;
let relay: TestRelay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const usage = { input_tokens: 1, output_tokens: 1 };
const callBlock = { type: "tool_use", id: "toolu_1", name: "aperture_read", input: {} };

function eventsOf(block: object, stop: string): Buffer {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], usage };
  return Buffer.concat([
    encodeEvent({ type: "message_start", message }),
    encodeEvent({ type: "content_block_start", index: 0, content_block: block }),
    encodeEvent({ type: "content_block_stop", index: 0 }),
    encodeEvent({ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage }),
    encodeEvent({ type: "message_stop" }),
  ]);
}

function jsonOf(block: object, stop: string): string {
  return JSON.stringify({ type: "message", role: "assistant", content: [block], stop_reason: stop, usage });
}

type SlowOptions = {
  readonly isStreamed: boolean;
  /** Plans the round after the calls of our tools. */
  readonly planRound: (next: PlannedRequest) => Promise<PlannedRequest | null>;
  /** The delay of the second sampling. */
  readonly headMs?: number;
};

/** Starts an upstream that calls our tools once and then says something, behind a slow planner. */
async function start({ isStreamed, planRound, headMs = 0 }: SlowOptions): Promise<FakePlanner> {
  upstream = await startUpstream((_seen, response) => {
    const isFirst = upstream.seen.length === 1;
    const block = isFirst ? callBlock : { type: "text", text: "done" };
    const write = isStreamed ? eventsOf : jsonOf;
    setTimeout(
      () => {
        response.setHeader("content-type", isStreamed ? "text/event-stream" : "application/json");
        response.end(write(block, isFirst ? "tool_use" : "end_turn"));
      },
      isFirst ? 0 : headMs,
    );
  });
  const isOwnTool = (name: string): boolean => name.startsWith("aperture_");
  const planner = fakePlanner({
    plan: (meta) => managedPlan(meta, ["{}"], { isOwnTool }),
    planRound: (planned) => planRound({ ...planned }),
  });
  relay = await startRelay(upstream.url, { planner: planner, limits: { pingMs: 20 } });
  return planner;
}

const post = () =>
  ask(`http://127.0.0.1:${relay.proxy.port}/v1/messages`, { headers: modelHeaders, body: "{}" });
const afterDelay =
  (ms: number): SlowOptions["planRound"] =>
  async (next) => {
    await sleep(ms);
    return next;
  };

describe("a client that waits", () => {
  test.each([
    ["our commands", { planRound: afterDelay(250) }],
    ["the model", { planRound: afterDelay(0), headMs: 250 }],
  ])("for %s gets pings", async (_name, slow) => {
    await start({ isStreamed: true, ...slow });
    const { content, pings, stop } = parseAnswer(await post());
    expect([content, stop]).toEqual([[{ type: "text", text: "done" }], "end_turn"]);
    expect(pings).toBeGreaterThanOrEqual(4);
  });

  test("for a JSON answer gets nothing before it is complete", async () => {
    await start({ isStreamed: false, planRound: afterDelay(100) });
    expect((await post()).body.toString().startsWith('{"type":"message"')).toBe(true);
  });

  test("gets the answer so far if the planner fails or has nothing to send", async () => {
    for (const planRound of [() => Promise.reject(new Error("no")), () => Promise.resolve(null)]) {
      await start({ isStreamed: true, planRound });
      expect(parseAnswer(await post())).toMatchObject({
        content: [{ text: "(no answer)" }],
        stop: "end_turn",
      });
      await relay.proxy.close();
      await upstream.close();
    }
  });
});

test.each([
  ["events", true],
  ["one value", false],
])("no second sampling is sent for a client that leaves during commands: %s", async (_name, isStreamed) => {
  let begun = false;
  const planner = await start({
    isStreamed,
    planRound: async (next) => {
      begun = true;
      await sleep(150);
      return next;
    },
  });
  const abort = new AbortController();
  const url = `http://127.0.0.1:${relay.proxy.port}/v1/messages`;
  const asked = fetch(url, { method: "POST", headers: modelHeaders, body: "{}", signal: abort.signal });
  const got = asked.then((response) => response.text()).catch((error: unknown) => error);
  await until(() => begun);
  abort.abort();
  expect(await got).toBeInstanceOf(Error);
  await until(() => planner.finished.length === 2);
  expect(upstream.seen).toHaveLength(1);
  // The second request was never sent, and the planner knows.
  expect(planner.finished[1]?.answer).toMatchObject({
    status: null,
    isRequestFlushed: false,
    isComplete: false,
  });
});
