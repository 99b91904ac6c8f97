// Blocks that a provider has signed, paired or made itself are never edited: they stay, or go whole.
import { expect, test } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import { changes } from "../../src/engine/index.ts";
import { now, viewBlocks } from "../../src/engine/moment/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";

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

/** The block without cache marks, which are no part of its content. */
const textOf = (block: Block): string =>
  JSON.stringify(block, (key, value: unknown) => (key === "cache_control" ? undefined : value));

test.each(["archived", "minimal"] as const)(
  "locked blocks are unchanged after the user has set everything %s",
  async (action) => {
    const replies = [search, reads];
    let requests = 0;
    const kit = new CommandKit({
      policy: "auto",
      model: () => {
        requests += 1;
        return { content: replies[requests - 1] ?? [{ type: "text", text: `answer ${requests}` }] };
      },
    });
    await kit.say("What is the oldest library?");
    await kit.say("Read its page.");
    await kit.results(`A page. ${"Many words. ".repeat(4_000)}`);
    const first = new Map(
      kit.sent.flatMap(({ body }) => blocksIn(body)).map((block) => [textOf(block), block]),
    );
    await kit.act((change) => {
      const ids = [...viewBlocks(now(change.moment.state), change.view)].map(({ id }) => id);
      return action === "archived"
        ? unwrap(changes.archive(change, ids, "done"))
        : changes.setLevel(change, ids, "minimal");
    });
    for (const words of ["Go on.", "And then?", "What else?", "Is that all?"]) {
      kit.clock.advance(3 * 60 * 60_000);
      await kit.say(words);
    }
    expect(kit.problems()).toEqual([]);
    const last = blocksIn(must(kit.sent.at(-1), "it was sent").body);
    const kept = last.filter(({ type }) => locked.includes(type));
    expect(kept.filter((block) => !first.has(textOf(block)))).toEqual([]);
    expect(new Set(kept.map(({ type }) => type))).toEqual(new Set(locked));
    const calls = last.flatMap(({ type, id }) => (type.endsWith("tool_use") ? [id] : []));
    const results = last.flatMap(({ type, tool_use_id }) =>
      type.endsWith("tool_result") ? [tool_use_id] : [],
    );
    expect(results.sort()).toEqual(calls.sort());
    // Something must have been removed, or the test would prove nothing.
    expect(must(kit.sent.at(-1), "it was sent").body.includes("Many words. ".repeat(3_000))).toBe(false);
  },
);
