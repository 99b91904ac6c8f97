// What a provider has signed, paired or made itself is never edited: it stays as it is, or goes whole.
import { expect, test } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import { archive, blocksOf, now, wantLevel } from "../../src/engine/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { HandsKit } from "../support/hands-kit.ts";

type Block = { readonly type: string; readonly id?: string; readonly tool_use_id?: string };

const search: readonly ReplyBlock[] = [
  { type: "thinking", thinking: "I have to look that up." },
  { type: "redacted_thinking" },
  {
    type: "raw",
    block: {
      type: "server_tool_use",
      id: "srvtoolu_01",
      name: "web_search",
      input: { query: "old libraries" },
    },
  },
  {
    type: "raw",
    block: {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_01",
      content: [
        {
          type: "web_search_result",
          url: "https://library.example/",
          title: `A library. ${"Many shelves. ".repeat(200)}`,
          encrypted_content: "c2VjcmV0",
          page_age: null,
        },
      ],
    },
  },
  { type: "text", text: `I found it. ${"It is old. ".repeat(200)}` },
];
const reads: readonly ReplyBlock[] = [
  { type: "thinking", thinking: "Now the page." },
  { type: "tool_use", name: "read", input: { page: "x ".repeat(2_000) } },
  { type: "tool_use", name: "run", input: {} },
];

const locked = [
  ...["thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"],
] as readonly string[];

function blocksIn(body: string): readonly Block[] {
  const { messages } = JSON.parse(body) as {
    readonly messages: readonly { readonly content: string | readonly Block[] }[];
  };
  return messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
}

/** Without the marks of a cache, which are no part of what was said. */
const textOf = (block: Block): string =>
  JSON.stringify(block, (key, value: unknown) => (key === "cache_control" ? undefined : value));

test.each(["archived", "minimal"] as const)("all of it %s, by the user, after a rest", async (how) => {
  const replies = [search, reads];
  let asked = 0;
  const kit = new HandsKit({
    policy: "auto",
    model: () => {
      asked += 1;
      return { content: replies[asked - 1] ?? [{ type: "text", text: `answer ${asked}` }] };
    },
  });
  await kit.say("What is the oldest library?");
  await kit.say("Read its page.");
  await kit.results(`A page. ${"Many words. ".repeat(4_000)}`);
  const first = new Map(
    kit.sent.flatMap(({ body }) => blocksIn(body)).map((block) => [textOf(block), block]),
  );
  await kit.act((change) => {
    const ids = [...blocksOf(now(change.moment.state), change.view)].map(({ id }) => id);
    return how === "archived" ? unwrap(archive(change, ids, "done")) : wantLevel(change, ids, "minimal");
  });
  for (const words of ["Go on.", "And then?", "What else?", "Is that all?"]) {
    kit.clock.advance(3 * 60 * 60_000);
    await kit.say(words);
  }
  expect(kit.problems()).toEqual([]);
  const last = blocksIn(must(kit.sent.at(-1), "it was sent").body);
  const kept = last.filter(({ type }) => locked.includes(type));
  expect(kept.filter((block) => !first.has(textOf(block)))).toEqual([]);
  const calls = last.flatMap(({ type, id }) => (type.endsWith("tool_use") ? [id] : []));
  const results = last.flatMap(({ type, tool_use_id }) =>
    type.endsWith("tool_result") ? [tool_use_id] : [],
  );
  expect(results.sort()).toEqual(calls.sort());
  // Something has gone, else this would show nothing.
  expect(must(kit.sent.at(-1), "it was sent").body.includes("Many words. ".repeat(3_000))).toBe(false);
});
