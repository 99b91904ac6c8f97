// Programs that send the same request many times at once, and continue each answer separately.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { ownText } from "../support/own-lines.ts";
import { promptOf, rejections, TestClient } from "../support/test-client.ts";

const twins = 50;
const turns = 3;
const timeout = 60_000;
let upstream: StrictUpstream;
let app: TestApp;
/** The text of the nth answer of the model. */
let textOf: (n: number) => string;

beforeEach(async () => {
  let n = 0;
  upstream = await startStrictUpstream({
    // Each answer differs, and all of them are under way at once.
    model: async () => {
      n += 1;
      const number = n;
      await sleep(100);
      const thought = { type: "thinking", thinking: `thought ${number}.` } as const;
      return { content: [thought, { type: "text", text: textOf(number) }] };
    },
  });
  app = await startTestApp(upstream.url, { mode: "auto" });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

it.each([
  ["under one name", { "x-aperture-session": "twins" }, (n: number) => `answer ${n}.`],
  ["without a name", {}, (n: number) => `answer ${n}.`],
  ["with the same answer", {}, () => "answer 0."],
])(`${twins} identical requests %s become ${twins} branches`, { timeout }, async (_, headers, textFor) => {
  textOf = textFor;
  const clients = Array.from(
    { length: twins },
    () => new TestClient({ session: null, bulk: 60_000, headers }),
  );
  for (let turn = 0; turn < turns; turn += 1) {
    const answers = await Promise.all(clients.map((client) => client.turn(app.url, "go on")));
    expect(answers.filter(({ status, isWhole }) => status !== 200 || !isWhole)).toEqual([]);
    for (const [at, { headers: got }] of answers.entries()) {
      expect(answersIn(String(got["request-id"]))).toEqual(answersOf(clients[at]).slice(0, -2));
    }
  }
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(new Set(clients.map((client) => answersOf(client).join())).size).toBe(twins);
  expect(upstream.exchanges.length).toBe(twins * turns);
  expect(upstream.exchanges.filter(({ body }) => !ownText.test(body.toString()))).toEqual([]);
});

/** The model's earlier answers in a request that the upstream got. */
function answersIn(id: string): readonly string[] {
  const exchange = upstream.exchanges.find(({ responseHeaders }) => responseHeaders["request-id"] === id);
  const units = promptOf(exchange?.body ?? Buffer.alloc(0)).filter((unit) => unit.includes('"assistant"'));
  return units.flatMap((unit) => /(?:thought|answer) \d+\./.exec(unit)?.[0] ?? []);
}

/** The answers a client has got so far, including the last one. */
function answersOf(client: TestClient | undefined): readonly string[] {
  const answers = client?.messages.filter(({ role }) => role === "assistant") ?? [];
  return answers.flatMap(({ content }) => content.map((block) => String(block["thinking"] ?? block["text"])));
}
