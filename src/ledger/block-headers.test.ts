import { describe, expect, test } from "vitest";
import { hashContent, turnOf } from "../base/index.ts";
import type { NumberedBlock } from "../exchange/index.ts";
import { protocolOf } from "../protocols/index.ts";
import {
  addHeaders,
  type HeaderInput,
  headerMessages,
  lastUserSpan,
  unannouncedBlocks,
} from "./block-headers.ts";
import { addRoot, emptyTree, TreeDraft } from "./ledger-tree.ts";
import type { LedgerNode } from "./node.ts";
import { type PlannedUnit, plannedDefaults } from "./planned-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

const start = Date.UTC(2026, 10, 15, 14, 5);
const defaults: HeaderInput = {
  protocol: anthropic,
  headers: "compact",
  timeMs: start,
  zoneMinutes: 0,
  names: [],
  nonce: "k7f3",
  turn: 3,
  lastTurnMs: start - 1_000,
  earlierBlocks: [],
  memoryLines: [],
};

const block = (id: number, over: Partial<NumberedBlock> = {}): NumberedBlock => ({
  ...{ block: id, message: 4, turn: 3, kind: "user", tokens: 90 },
  ttl: { at: turnOf(23), spanTurns: 20 },
  ...over,
});

function unit(json: object, numbered: NumberedBlock | null, over: Partial<PlannedUnit> = {}): PlannedUnit {
  const bytes = Buffer.from(JSON.stringify(json));
  const hash = hashContent(bytes);
  const { type: wireType } = json as { type: string };
  const part = wireType === "text" ? "text" : "result";
  const kind = numbered?.kind ?? "user";
  const protocol = anthropic.name;
  const facts = { protocol, key: `k${numbered?.block}`, kind, part, wireType, callId: null, hash } as const;
  const wrapping = { role: "user", head: "", tail: "" };
  const position = { origin: "client", wrapping, opensMessage: false, extra: null, alignedIndex: 0 } as const;
  return { ...plannedDefaults, facts, ...position, bytes, hash, numbered, ...over };
}

const text = (id: number, over: Partial<PlannedUnit> = {}) =>
  unit({ type: "text", text: `w${id}` }, block(id), over);
const result = (id: number, tokens = 90) =>
  unit(
    { type: "tool_result", tool_use_id: "c", content: `r${id}` },
    block(id, { kind: "tool-result", tokens }),
  );
const answer = (id: number) =>
  unit({ type: "text", text: `a${id}` }, block(id, { kind: "assistant", message: 3 }), {
    wrapping: { role: "assistant", head: "", tail: "" },
    opensMessage: true,
  });

/** The text or content of each unit with headers. */
function sent(units: readonly PlannedUnit[], over: Partial<HeaderInput> = {}) {
  return addHeaders({ ...defaults, ...over }, units).map(({ bytes }) => {
    const block = JSON.parse(Buffer.from(bytes).toString());
    return block.text ?? block.content;
  });
}

const line = "[k7f3 turn 3, 14:05: message 4 #7]";

describe("a compact header", () => {
  test("precedes the user's text and follows results", () => {
    expect(sent([text(7)])).toEqual([line, "w7"]);
    const two = [result(7), text(8)];
    expect(sent(two)).toEqual(["r7", "[k7f3 turn 3, 14:05: message 4 #7..#8]", "w8"]);
  });

  test("is left out for small results, but not after five minutes", () => {
    expect(sent([result(7)])).toEqual(["r7"]);
    const late = sent([result(7)], { lastTurnMs: start - 5 * 60_000 });
    expect(late).toEqual(["r7", line]);
    expect(sent([result(7, 14_000)])[1]).toContain("#7 result ~14k until 23");
  });

  test("counts earlier blocks that were not announced", () => {
    const earlierBlocks = [block(5, { message: 3, kind: "assistant", tokens: 14_000 })];
    expect(sent([result(7)], { earlierBlocks })[1]).toBe("[k7f3 turn 3, 14:05: messages 3..4 #5 #7]");
  });

  test("says the date at first, and when it changes in the time zone of the user", () => {
    expect(sent([text(7)], { lastTurnMs: null })[0]).toBe(
      "[k7f3 turn 3, 2026-11-15 14:05 UTC: message 4 #7]",
    );
    expect(sent([text(7)], { zoneMinutes: 60, lastTurnMs: start - 60_000 })[0]).not.toContain("2026");
    const midnight = { zoneMinutes: 600, timeMs: start, lastTurnMs: start - 10 * 60_000 };
    expect(sent([text(7)], midnight)[0]).toContain("2026-11-16 00:05 UTC+10");
  });

  test("carries names, and is absent if headers are off or the model speaks last", () => {
    expect(sent([text(7)], { names: ["auth.ts"] })[0]).toContain("; names auth.ts]");
    expect(sent([text(7)], { headers: "off" })).toEqual(["w7"]);
    expect(sent([answer(6)])).toEqual(["a6"]);
  });
});

describe("full headers", () => {
  const full = { headers: "full" } as const;
  const part = (id: number, kind: string) =>
    `[Part ID: ${id} | Type: ${kind} | Tokens: ~90 | Turns Left: 20 at turn 3 (until turn 23) | k7f3]`;

  test("precede texts and go inside results, the message header before its first part", () => {
    const [inside, header, last] = sent([result(7), text(8)], full);
    expect(inside).toEqual([
      { type: "text", text: expect.stringMatching(/^--- Message ID: 4 .*\n\[Part ID: 7 .*k7f3\]$/) },
      { type: "text", text: "r7" },
    ]);
    expect([header, last]).toEqual([part(8, "user"), "w8"]);
  });

  test("announce earlier blocks before the first part", () => {
    const earlierBlocks = [block(5, { message: 3, kind: "assistant" })];
    const [head] = sent([text(7)], { ...full, earlierBlocks });
    const starts = String(head)
      .split("\n")
      .map((one) => /^\S+ (?:Message|ID:) ?(?:ID: )?\d+/.exec(one)?.[0]);
    expect(starts).toEqual(["--- Message ID: 3", "[Part ID: 5", "--- Message ID: 4", "[Part ID: 7"]);
  });

  test("keep the client's bytes of a result", () => {
    const [headed] = addHeaders({ ...defaults, ...full, lastTurnMs: null }, [result(7)]);
    expect([headed?.isRewritten, headed?.isHeader]).toEqual([true, true]);
    expect(Buffer.from(headed?.original ?? [])).toEqual(result(7).bytes);
    expect(headed?.hash).toBe(hashContent(headed?.bytes ?? Buffer.from("")));
  });

  test("leave units without a number alone", () => {
    expect(sent([unit({ type: "text", text: "x" }, null)], full)).toEqual(["x"]);
  });
});

test("the last user message is found among new units", () => {
  const opens = { opensMessage: true } as const;
  const items = [text(1, opens), answer(2), text(3, opens), text(4)];
  expect([lastUserSpan(items), lastUserSpan([answer(2)]), lastUserSpan([])]).toEqual([
    { first: 2, last: 3 },
    null,
    null,
  ]);
});

test("announced blocks are not announced again", () => {
  const { tree, root } = addRoot(emptyTree, "");
  const draft = new TreeDraft(tree);
  const below = (parent: LedgerNode, id: number, isAnnounced: boolean): LedgerNode => {
    const node = { ...draft.nodeBelow(parent, text(id)), isAnnounced };
    draft.add(node);
    return node;
  };
  const end = below(below(below(root, 1, true), 2, false), 3, false);
  expect(unannouncedBlocks(draft.done(), end).map(({ block }) => block)).toEqual([2, 3]);
  expect(unannouncedBlocks(tree, root)).toEqual([]);
});

test("blocks are grouped by message, with its speaker", () => {
  const messages = headerMessages([block(1), block(2, { message: 5, kind: "reasoning" }), block(3)], 1);
  expect(messages.map(({ message, role, from, blocks }) => [message, role, from, blocks.length])).toEqual([
    [4, "user", "client", 2],
    [5, "assistant", "model", 1],
  ]);
});
