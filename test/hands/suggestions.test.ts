// What nobody has used for a while is suggested in the detailed manifest, where one is asked for.
import { expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import type { Reply, ReplyBlock } from "../../src/testing/index.ts";
import { HandsKit } from "../support/hands-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const own = (name: string, input: Record<string, string>): ReplyBlock => ({
  type: "tool_use",
  name: `aperture_${name}`,
  input,
});
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const page = (n: number): string =>
  Array.from({ length: 240 }, (_, at) => `page${n}_shelf${at} holds ${at * 7 + n} books`).join("\n");
const idle = (turns: number) => Array.from({ length: turns }, () => [text("Yes.")]);

/** Two pages are read, nothing is said of the second any more, and the model asks what there is. */
async function told(use: string): Promise<HandsKit> {
  const script: Reply["content"][] = [
    [read],
    [text("A page.")],
    [read],
    [text("Another.")],
    ...idle(6),
    [text(use)],
    [own("read", { verb: "manifest", detail: "detailed" }), own("archive", { target: "6", reason: "read" })],
    [text("I see.")],
  ];
  const kit = new HandsKit({ model: () => ({ content: script.shift() ?? [text("Nothing more.")] }) });
  for (const n of [1, 2]) {
    await kit.say(`Read page ${n}.`);
    await kit.results(page(n));
  }
  for (let turn = 0; turn < 8; turn += 1) await kit.say(`Go on, for the time ${turn}.`);
  // By then nothing is cached any more, so that a rewrite is free.
  kit.clock.advance(2 * 60 * 60_000);
  await kit.say("I am back.");
  expect(kit.problems()).toEqual([]);
  return kit;
}

/** The last manifest of a body, which is the newest. */
function newest({ body }: { readonly body: string }): string {
  return body.slice(body.lastIndexOf("CONTEXT MANIFEST"));
}

test("results that nobody speaks of are candidates", async () => {
  const kit = await told("Fine.");
  const asked = must(kit.sent.at(-2), "the answer to the manifest was sent").body;
  expect(asked).toMatch(/CANDIDATES [^\\]*#9\.\.#11 tool output/);
  // The first page is pruned by this rewrite.
  expect(newest(must(kit.sent.at(-1), "it was sent"))).toMatch(/COLD \d+ blocks? ~?[1-9]/);
});

test("one that the model speaks of is none", async () => {
  const kit = await told("The second has page2_shelf17, as I need it.");
  const asked = must(kit.sent.at(-2), "the answer to the manifest was sent").body;
  expect(asked).toMatch(/CANDIDATES #5\.\.#7 tool output [^#]*\\n/);
  expect(newest(must(kit.sent.at(-1), "it was sent"))).not.toContain("CANDIDATES");
});
