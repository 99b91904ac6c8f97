import { describe, expect, test } from "vitest";
import { hashContent, turnOf } from "../../base/index.ts";
import type { Numbered } from "../desk-port.ts";
import { asIs, type Item, newPlace } from "./draft.ts";
import { type HeaderAsked, lastUserSpan, messagesOf, unannounced, withHeaders } from "./headers.ts";
import { type Place, rootPlace } from "./place.ts";
import type { Saying } from "./saying.ts";

const start = Date.UTC(2026, 10, 15, 14, 5);
const saying: Saying = {
  headers: "compact",
  timeMs: start,
  commands: "tools",
  zoneMinutes: 0,
  rate: 1,
  names: [],
  memories: [],
  tail: () => null,
};

const block = (id: number, over: Partial<Numbered> = {}): Numbered => ({
  ...{ block: id, message: 4, turn: 3, kind: "user", tokens: 90 },
  ttl: { at: turnOf(23), spanTurns: 20 },
  ...over,
});

function item(json: object, numbered: Numbered | null, over: Partial<Item> = {}): Item {
  const bytes = Buffer.from(JSON.stringify(json));
  const hash = hashContent(bytes);
  const { type } = json as { type: string };
  const facts = { key: `k${numbered?.block}`, kind: numbered?.kind ?? "user", type, callId: null, hash };
  const wrapping = { role: "user", head: "", tail: "" };
  const said = { ...asIs, facts, origin: "client", wrapping, opens: false, extra: null, at: 0 } as const;
  return { ...said, bytes, hash, numbered, ...over };
}

const words = (id: number, over: Partial<Item> = {}) =>
  item({ type: "text", text: `w${id}` }, block(id), over);
const result = (id: number, tokens = 90) =>
  item(
    { type: "tool_result", tool_use_id: "c", content: `r${id}` },
    block(id, { kind: "tool-result", tokens }),
  );
const answer = (id: number) =>
  item({ type: "text", text: `a${id}` }, block(id, { kind: "assistant", message: 3 }), {
    wrapping: { role: "assistant", head: "", tail: "" },
    opens: true,
  });

/** What each item says. */
function sent(items: readonly Item[], over: Partial<Saying> = {}, asked: Partial<HeaderAsked> = {}) {
  const usual = { nonce: "k7f3", turn: 3, lastMs: start - 1_000, before: [], memories: [] };
  const headed = withHeaders({ saying: { ...saying, ...over }, ...usual, ...asked }, items);
  return headed.map(({ bytes }) => {
    const { text, content } = JSON.parse(Buffer.from(bytes).toString());
    return text ?? content;
  });
}

const line = "[k7f3 turn 3, 14:05: message 4 #7]";

describe("a compact header", () => {
  test("stands in front of what the user says, and behind results", () => {
    expect(sent([words(7)])).toEqual([line, "w7"]);
    const two = [result(7), words(8)];
    expect(sent(two)).toEqual(["r7", "[k7f3 turn 3, 14:05: message 4 #7..#8]", "w8"]);
  });

  test("is left out where only small results have come, and there again after five minutes", () => {
    expect(sent([result(7)])).toEqual(["r7"]);
    const late = sent([result(7)], {}, { lastMs: start - 5 * 60_000 });
    expect(late).toEqual(["r7", line]);
    expect(sent([result(7, 14_000)])[1]).toContain("#7 result ~14k until 23");
  });

  test("counts what came before it and was not announced", () => {
    const before = [block(5, { message: 3, kind: "assistant", tokens: 14_000 })];
    expect(sent([result(7)], {}, { before })[1]).toBe("[k7f3 turn 3, 14:05: messages 3..4 #5 #7]");
  });

  test("says the date at first, and when it is another one where the user is", () => {
    expect(sent([words(7)], {}, { lastMs: null })[0]).toBe(
      "[k7f3 turn 3, 2026-11-15 14:05 UTC: message 4 #7]",
    );
    expect(sent([words(7)], { zoneMinutes: 60 }, { lastMs: start - 60_000 })[0]).not.toContain("2026");
    const midnight = { zoneMinutes: 600, timeMs: start };
    expect(sent([words(7)], midnight, { lastMs: start - 10 * 60_000 })[0]).toContain(
      "2026-11-16 00:05 UTC+10",
    );
  });

  test("carries names, and none is there where headers are off or the model speaks last", () => {
    expect(sent([words(7)], { names: ["auth.ts"] })[0]).toContain("; names auth.ts]");
    expect(sent([words(7)], { headers: "off" })).toEqual(["w7"]);
    expect(sent([answer(6)])).toEqual(["a6"]);
  });
});

describe("full headers", () => {
  const full = { headers: "full" } as const;
  const part = (id: number, kind: string) =>
    `[Part ID: ${id} | Type: ${kind} | Tokens: ~90 | Turns Left: 20 at turn 3 (until turn 23) | k7f3]`;

  test("stand in front of words and inside results, the message before its first part", () => {
    const [inside, before, said] = sent([result(7), words(8)], full);
    expect(inside).toEqual([
      { type: "text", text: expect.stringMatching(/^--- Message ID: 4 .*\n\[Part ID: 7 .*k7f3\]$/) },
      { type: "text", text: "r7" },
    ]);
    expect([before, said]).toEqual([part(8, "user"), "w8"]);
  });

  test("name what was not announced in front of the first", () => {
    const before = [block(5, { message: 3, kind: "assistant" })];
    const [head] = sent([words(7)], full, { before });
    const starts = String(head)
      .split("\n")
      .map((one) => /^\S+ (?:Message|ID:) ?(?:ID: )?\d+/.exec(one)?.[0]);
    expect(starts).toEqual(["--- Message ID: 3", "[Part ID: 5", "--- Message ID: 4", "[Part ID: 7"]);
  });

  test("leave the client's own words of a result to compare with", () => {
    const asked = {
      saying: { ...saying, ...full },
      nonce: "k7f3",
      turn: 3,
      lastMs: null,
      before: [],
      memories: [],
    };
    const [headed] = withHeaders(asked, [result(7)]);
    expect([headed?.isRewritten, headed?.isHeader]).toEqual([true, true]);
    expect(Buffer.from(headed?.original ?? [])).toEqual(result(7).bytes);
    expect(headed?.hash).toBe(hashContent(headed?.bytes ?? Buffer.from("")));
  });

  test("leave alone what has no number", () => {
    expect(sent([item({ type: "text", text: "x" }, null)], full)).toEqual(["x"]);
  });
});

test("the last message of the user's side is found, whatever else is new", () => {
  const opens = { opens: true } as const;
  const items = [words(1, opens), answer(2), words(3, opens), words(4)];
  expect([lastUserSpan(items), lastUserSpan([answer(2)]), lastUserSpan([])]).toEqual([
    { first: 2, last: 3 },
    null,
    null,
  ]);
});

test("what is announced is not announced again", () => {
  const root = rootPlace("");
  const below = (parent: Place, id: number, isAnnounced: boolean): Place =>
    Object.assign(newPlace(parent, words(id)), { isAnnounced });
  const end = below(below(below(root, 1, true), 2, false), 3, false);
  expect(unannounced(end).map(({ block: id }) => id)).toEqual([2, 3]);
  expect(unannounced(root)).toEqual([]);
});

test("blocks of one message stand together, with who says them", () => {
  const said = messagesOf([block(1), block(2, { message: 5, kind: "reasoning" }), block(3)], 1);
  expect(said.map(({ message, role, from, blocks }) => [message, role, from, blocks.length])).toEqual([
    [4, "user", "client", 2],
    [5, "assistant", "model", 1],
  ]);
});
