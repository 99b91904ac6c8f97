// While commands take their time, the client is kept, and once it has left nothing more is done for it.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { wireEvent } from "../../src/protocols/index.ts";
import type { Sending } from "../../src/session/index.ts";
import { type FakeDesk, fakeDesk, managed } from "../relay/fake-desk.ts";
import { type Relay, startRelay, startUpstream, type Upstream, until } from "../relay/harness.ts";
import { ask, modelHeaders } from "../support/app.ts";
import { heardIn } from "../support/heard.ts";

let upstream: Upstream;
let relay: Relay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const usage = { input_tokens: 1, output_tokens: 1 };
const callBlock = { type: "tool_use", id: "toolu_1", name: "aperture_read", input: {} };

function sampled(block: object, stop: string): Buffer {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], usage };
  return Buffer.concat([
    wireEvent({ type: "message_start", message }),
    wireEvent({ type: "content_block_start", index: 0, content_block: block }),
    wireEvent({ type: "content_block_stop", index: 0 }),
    wireEvent({ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage }),
    wireEvent({ type: "message_stop" }),
  ]);
}

function message(block: object, stop: string): string {
  return JSON.stringify({ type: "message", role: "assistant", content: [block], stop_reason: stop, usage });
}

type Slow = {
  readonly isStreamed: boolean;
  /** What the desk does about our calls. */
  readonly goOn: (next: Sending) => Promise<Sending | null>;
  /** How long the upstream thinks about the second sampling. */
  readonly headMs?: number;
};

/** An upstream that calls us once and then says something, behind a desk that takes its time. */
async function start({ isStreamed, goOn, headMs = 0 }: Slow): Promise<FakeDesk> {
  upstream = await startUpstream((_seen, response) => {
    const isFirst = upstream.seen.length === 1;
    const block = isFirst ? callBlock : { type: "text", text: "done" };
    const write = isStreamed ? sampled : message;
    setTimeout(
      () => {
        response.setHeader("content-type", isStreamed ? "text/event-stream" : "application/json");
        response.end(write(block, isFirst ? "tool_use" : "end_turn"));
      },
      isFirst ? 0 : headMs,
    );
  });
  const isOwnTool = (name: string): boolean => name.startsWith("aperture_");
  const desk = fakeDesk({
    take: (asking) => managed(asking, ["{}"], { isOwnTool }),
    goOn: (sending) => goOn({ ...sending }),
  });
  relay = await startRelay(upstream.url, { desk, limits: { pingMs: 20 } });
  return desk;
}

const post = () =>
  ask(`http://127.0.0.1:${relay.proxy.port}/v1/messages`, { headers: modelHeaders, body: "{}" });
const slowly =
  (ms: number): Slow["goOn"] =>
  async (next) => {
    await sleep(ms);
    return next;
  };

describe("a client that waits", () => {
  test.each([
    ["our commands", { goOn: slowly(250) }],
    ["the model", { goOn: slowly(0), headMs: 250 }],
  ])("for %s hears that somebody is there", async (_name, slow) => {
    await start({ isStreamed: true, ...slow });
    const { content, pings, stop } = heardIn(await post());
    expect([content, stop]).toEqual([[{ type: "text", text: "done" }], "end_turn"]);
    expect(pings).toBeGreaterThanOrEqual(4);
  });

  test("for one JSON value hears nothing before it is there", async () => {
    await start({ isStreamed: false, goOn: slowly(100) });
    expect((await post()).body.toString().startsWith('{"type":"message"')).toBe(true);
  });

  test("gets what there is where the desk fails or has nothing to send", async () => {
    for (const goOn of [() => Promise.reject(new Error("no")), () => Promise.resolve(null)]) {
      await start({ isStreamed: true, goOn });
      expect(heardIn(await post())).toMatchObject({ content: [{ text: "(no answer)" }], stop: "end_turn" });
      await relay.proxy.close();
      await upstream.close();
    }
  });
});

test.each([
  ["events", true],
  ["one value", false],
])("a client that leaves while commands are carried out is not asked for: %s", async (_name, isStreamed) => {
  let begun = false;
  const desk = await start({
    isStreamed,
    goOn: async (next) => {
      begun = true;
      await sleep(150);
      return next;
    },
  });
  const left = new AbortController();
  const url = `http://127.0.0.1:${relay.proxy.port}/v1/messages`;
  const asked = fetch(url, { method: "POST", headers: modelHeaders, body: "{}", signal: left.signal });
  const got = asked.then((response) => response.text()).catch((error: unknown) => error);
  await until(() => begun);
  left.abort();
  expect(await got).toBeInstanceOf(Error);
  await until(() => desk.ended.length === 2);
  expect(upstream.seen).toHaveLength(1);
  // The second was never sent, and the desk knows.
  expect(desk.ended[1]?.answer).toMatchObject({ status: null, hasLeft: false, isComplete: false });
});
