// Programs that ask the same thing many times at once, and go on with each answer by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { ownText } from "../support/own-lines.ts";
import { promptOf, rejections, Talker } from "../support/talker.ts";

const twins = 50;
const turns = 3;
const timeout = 60_000;
let upstream: StrictUpstream;
let app: TestApp;
/** What the model says, given how many answers there were. */
let words: (n: number) => string;

beforeEach(async () => {
  let n = 0;
  upstream = await startStrictUpstream({
    // Each answer is another one, and all of them are under way at once.
    model: async () => {
      n += 1;
      const own = n;
      await sleep(100);
      const thought = { type: "thinking", thinking: `thought ${own}.` } as const;
      return { content: [thought, { type: "text", text: words(own) }] };
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
  ["with one and the same answer", {}, () => "answer 0."],
])(`${twins} identical requests %s go on as ${twins} branches`, { timeout }, async (_, headers, said) => {
  words = said;
  const talkers = Array.from({ length: twins }, () => new Talker({ session: null, bulk: 60_000, headers }));
  for (let turn = 0; turn < turns; turn += 1) {
    const answers = await Promise.all(talkers.map((talker) => talker.turn(app.url, "go on")));
    expect(answers.filter(({ status, isWhole }) => status !== 200 || !isWhole)).toEqual([]);
    for (const [at, { headers: got }] of answers.entries()) {
      expect(saidIn(String(got["request-id"]))).toEqual(heardBy(talkers[at]).slice(0, -2));
    }
  }
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(new Set(talkers.map((talker) => heardBy(talker).join())).size).toBe(twins);
  expect(upstream.exchanges.length).toBe(twins * turns);
  expect(upstream.exchanges.filter(({ body }) => !ownText.test(body.toString()))).toEqual([]);
});

/** What the model had said in a request that the upstream got. */
function saidIn(id: string): readonly string[] {
  const exchange = upstream.exchanges.find(({ responseHeaders }) => responseHeaders["request-id"] === id);
  const units = promptOf(exchange?.body ?? Buffer.alloc(0)).filter((unit) => unit.includes('"assistant"'));
  return units.flatMap((unit) => /(?:thought|answer) \d+\./.exec(unit)?.[0] ?? []);
}

/** What a client has heard so far, the last answer included. */
function heardBy(talker: Talker | undefined): readonly string[] {
  const said = talker?.messages.filter(({ role }) => role === "assistant") ?? [];
  return said.flatMap(({ content }) => content.map((block) => String(block["thinking"] ?? block["text"])));
}
