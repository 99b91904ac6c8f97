// Answers are cut anywhere, reset anywhere, or abandoned by their client. The client gets the upstream's
// bytes and nothing else, and never a false success.
import { request as send } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { must, type Random, seededRandom } from "../../src/base/index.ts";
import type { RequestsPage, StateRow } from "../../src/queries/answers/index.ts";
import {
  type ModelReply,
  type StrictUpstream,
  type StrictUpstreamOptions,
  startStrictUpstream,
  type UpstreamFault,
} from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, modelHeaders, startTestApp, type TestApp } from "../support/app.ts";

const isLong = process.env["APERTURE_TEST_LONG"] === "1";
/** Seven has no factor in common with the sizes of events, so all positions inside an event are met. */
const cutStep = isLong ? 1 : 7;
const reply: ModelReply = {
  content: [
    { type: "text", text: "é\u{1f525}" },
    { type: "tool_use", id: "toolu_1", name: "read", input: { n: 1 } },
  ],
};
const model = () => reply;
const tools = [{ name: "read", input_schema: { type: "object" } }];

let upstream: StrictUpstream;
let app: TestApp;

async function start(options: StrictUpstreamOptions): Promise<void> {
  upstream = await startStrictUpstream(options);
  app = await startTestApp(upstream.url);
}

afterEach(async () => {
  await app.remove();
  await upstream.close();
});

function body(content: string): string {
  const messages = [{ role: "user", content }];
  return JSON.stringify({ model: "claude-opus-4-8", max_tokens: 99, messages, tools, stream: true });
}

function headersOf(session: string) {
  return { ...modelHeaders, "x-claude-code-session-id": session };
}

function askOnce(session: string): Promise<Answer> {
  return ask(`${app.url}/v1/messages`, { headers: headersOf(session), body: body("hello") });
}

async function blocksOf(session: string): Promise<readonly unknown[]> {
  const { blocks } = jsonIn<StateRow>(await app.api(`/sessions/${session}/state`));
  return blocks.map(({ kind, tokens, level }) => ({ kind, tokens, level }));
}

describe("an answer that arrives in pieces", () => {
  it("is passed on and read the same, wherever it is cut", { timeout: 240_000 }, async () => {
    let offset = 1;
    await start({
      model,
      // Read for each answer, so that one upstream serves every offset.
      get split() {
        return [offset];
      },
    });
    const whole = await askOnce("whole");
    const sessions: string[] = [];
    for (offset = 1; offset < whole.body.length; offset += cutStep) {
      const answer = await askOnce(`s-${offset}`);
      expect(answer.isWhole).toBe(true);
      expect(withoutIds(answer.body)).toBe(withoutIds(whole.body));
      expect(must(upstream.exchanges.at(-1), "it arrived").sent.equals(answer.body)).toBe(true);
      sessions.push(`s-${offset}`);
    }
    await app.recorded();
    expect(app.engine.status().counts).toMatchObject({ gaps: 0, unread: 0 });
    const expected = await blocksOf("last");
    expect(expected).toHaveLength(4);
    await expectSameBlocks(sessions.length + 1, expected);
  });
});

/** Each answer has its own message id. */
function withoutIds(bytes: Buffer): string {
  return bytes.toString("utf8").replace(/msg_[\w-]+/g, "msg");
}

async function expectSameBlocks(count: number, expected: readonly unknown[]): Promise<void> {
  let before = "";
  let seen = 0;
  do {
    const page = jsonIn<{ rows: { id: string }[]; next: string | null }>(
      await app.api(`/sessions?limit=100${before === "" ? "" : `&before=${encodeURIComponent(before)}`}`),
    );
    for (const { id } of page.rows) {
      const kinds = (await blocksOf(id)) as readonly { readonly kind: string }[];
      expect(kinds.map(({ kind }) => kind)).toEqual(expected.map((row) => (row as { kind: string }).kind));
      seen += 1;
    }
    before = page.next ?? "";
  } while (before !== "");
  expect(seen).toBe(count);
}

describe("an answer that breaks off", () => {
  it("never looks like a success, wherever it is reset", async () => {
    const random = seededRandom(20_261_116);
    let fault: UpstreamFault | null = null;
    await start({ model, fault: () => fault });
    const { length } = (await askOnce("whole")).body;
    let fabricated = 0;
    const count = isLong ? 10_000 : 200;
    for (let n = 0; n < count; n += 1) {
      fault = someReset(random, length);
      const answer = await askOnce(`s-${n % 50}`).catch(() => null);
      if (answer?.isWhole === true && isSuccess(answer)) fabricated += 1;
      const sent = upstream.exchanges.at(-1)?.sent ?? Buffer.alloc(0);
      if (answer?.status === 200) expect(sent.subarray(0, answer.body.length).equals(answer.body)).toBe(true);
    }
    expect(fabricated).toBe(0);
    await app.recorded();
    const { rows } = jsonIn<RequestsPage>(await app.api("/sessions/last/requests?limit=100"));
    const outcomes = new Set(rows.map(({ outcome }) => outcome));
    expect(outcomes.has("complete")).toBe(false);
  });
});

/** A client takes an answer for a success if it is complete and has its last event. */
function isSuccess({ status, body: bytes }: Answer): boolean {
  return status === 200 && bytes.toString("utf8").endsWith('data: {"type":"message_stop"}\n\n');
}

function someReset(random: Random, length: number): UpstreamFault {
  const bytes = 1 + random.below(length - 2);
  const events = random.below(8);
  const faults: readonly UpstreamFault[] = [
    { type: "reset-after-bytes", bytes },
    { type: "end-after-bytes", bytes },
    { type: "reset-after-events", events },
    { type: "close-after-events", events },
    { type: "reset-before-head" },
    { type: "short-body", missing: bytes },
  ];
  return random.pick(faults);
}

const leavers = isLong ? 100 : 20;

describe("a client that leaves", () => {
  it.each([
    ["before the first byte", { type: "hang-before-head" }],
    ["in the middle of the answer", { type: "hang-after-events", events: 3 }],
  ] as const)(
    `%s takes its upstream request with it, ${leavers} times`,
    async (_when, fault) => {
      await start({ model, fault: () => fault });
      for (let n = 0; n < leavers; n += 1) {
        await leave(fault.type === "hang-before-head");
        const exchange = must(upstream.exchanges.at(-1), "it arrived");
        while (exchange.closed === null) await sleep(1);
        expect(exchange.closed).toBe("client-left");
      }
      await app.recorded();
      const { rows } = jsonIn<RequestsPage>(await app.api("/sessions/last/requests?limit=100"));
      expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(["aborted"]));
    },
    60_000,
  );
});

/** Sends a request and leaves when the upstream has it, or when the first bytes of the answer arrive. */
function leave(isEarly: boolean): Promise<void> {
  const before = upstream.exchanges.length;
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: headersOf("leaver") };
    const outgoing = send(`${app.url}/v1/messages`, options, (response) => {
      response.on("error", () => undefined);
      response.once("data", () => abort());
    });
    const abort = (): void => {
      outgoing.destroy();
      resolve();
    };
    outgoing.on("error", (error) => (outgoing.destroyed ? undefined : reject(error)));
    outgoing.end(body("I may leave"));
    if (isEarly) void untilArrived(before).then(abort);
  });
}

async function untilArrived(before: number): Promise<void> {
  while ((upstream.exchanges[before]?.body.length ?? 0) === 0) await sleep(1);
}
