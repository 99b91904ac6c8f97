// Blocks that were not used for a while are candidates in the detailed manifest.
import { expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";

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

/** The model reads two pages, mentions `use` much later, and then asks for the manifest. */
async function playUntilManifest(use: string): Promise<CommandKit> {
  const script: ModelReply["content"][] = [
    [read],
    [text("A page.")],
    [read],
    [text("Another.")],
    ...idle(6),
    [text(use)],
    [own("read", { verb: "manifest", detail: "detailed" }), own("archive", { target: "6", reason: "read" })],
    [text("I see.")],
  ];
  const kit = new CommandKit({ model: () => ({ content: script.shift() ?? [text("Nothing more.")] }) });
  for (const n of [1, 2]) {
    await kit.say(`Read page ${n}.`);
    await kit.results(page(n));
  }
  for (let turn = 0; turn < 8; turn += 1) await kit.say(`Go on, for the time ${turn}.`);
  // The cache has expired by then, so a rewrite is free.
  kit.clock.advance(2 * 60 * 60_000);
  await kit.say("I am back.");
  expect(kit.problems()).toEqual([]);
  return kit;
}

/** The last manifest of a body, which is the newest. */
function newest({ body }: { readonly body: string }): string {
  return body.slice(body.lastIndexOf("CONTEXT MANIFEST"));
}

test("results that are not mentioned are candidates", async () => {
  const kit = await playUntilManifest("Fine.");
  const manifestBody = must(kit.sent.at(-2), "the answer to the manifest was sent").body;
  expect(manifestBody).toMatch(/CANDIDATES [^\\]*#9\.\.#11 tool output/);
  // The first page is pruned by this rewrite.
  expect(newest(must(kit.sent.at(-1), "it was sent"))).toMatch(/COLD \d+ blocks? ~?[1-9]/);
});

test("a result that the model mentions is not a candidate", async () => {
  const kit = await playUntilManifest("The second has page2_shelf17, as I need it.");
  const manifestBody = must(kit.sent.at(-2), "the answer to the manifest was sent").body;
  expect(manifestBody).toMatch(/CANDIDATES #5\.\.#7 tool output [^#]*\\n/);
  expect(newest(must(kit.sent.at(-1), "it was sent"))).not.toContain("CANDIDATES");
});
