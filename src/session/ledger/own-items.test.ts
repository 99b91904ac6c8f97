import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import type { Carrier } from "./carrier.ts";
import type { Item } from "./draft.ts";
import { spellItems } from "./draft.ts";
import { lastUserSpan, withLine } from "./headers.ts";
import { type OwnAsked, withOwn } from "./own-items.ts";
import { rootPlace } from "./place.ts";
import { freshItems, traceRequest } from "./trace.ts";

type Message = { readonly role: string; readonly content: readonly object[] };

const text = (words: string) => ({ type: "text", text: words });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "seen" });
const user = (...content: readonly object[]): Message => ({ role: "user", content });
const system = (...content: readonly object[]): Message => ({ role: "system", content });
const model = (...content: readonly object[]): Message => ({ role: "assistant", content });
const effort = { ...system(), output_config: { effort: "low" } };

const line = text("[k7f3 turn 7]");
const tail = text("[k7f3 context of turn 7: nothing is archived]");
const instructions = text("Mind the lines.");
const clearing = { role: "system", clear_at: "next_user_message", content: [tail] };

const bound = { isBound: true, hasMidSystem: true };
const boundOnly = { isBound: true, hasMidSystem: false };
const unbound = { isBound: false, hasMidSystem: true };

const heads = (items: readonly Item[]): readonly Item[] => {
  const span = lastUserSpan(items);
  return span === null ? items : withLine(items, span, line.text);
};
/** What stays is said only when something begins. */
const onlyVolatile = (carrier: Carrier): string | null => (carrier === "kept" ? null : tail.text);
const begins = { tail: () => tail.text };

/** What is sent for messages that are all new, and what is dropped afterwards. */
function sent(messages: readonly Message[], over: Partial<OwnAsked> = {}): readonly [unknown, string | null] {
  const { bytes, tail: end, dropped } = spelled(messages, over);
  return [JSON.parse(`[${bytes}${end}]`), dropped];
}

function spelled(messages: readonly Message[], over: Partial<OwnAsked>) {
  const body = Buffer.from(JSON.stringify({ model: "m", messages }));
  const request: WireRequest = must(ingestRequest(body, null), "the body can be read");
  const through = { throughOwn: true, throughOther: () => true, throughSystem: true };
  const rules = {
    bytes: request.bytes,
    ...through,
    leavesOut: false,
    trusts: false,
    isOwnLine: () => false,
    model: null,
  };
  const root = rootPlace("");
  const items = freshItems(traceRequest(root, request, { before: null, rules }));
  const usual = { traits: bound, mayClear: true, needsJoin: false, instructions: instructions.text };
  const own = withOwn({ items, last: root, purpose: "turn", heads, tail: onlyVolatile, ...usual, ...over });
  return { ...spellItems({ end: 0, tail: "" }, own.items), dropped: own.dropped };
}

describe("the line of a turn", () => {
  const lined = (messages: readonly Message[]) => sent(messages, { purpose: "count" })[0];

  test.each<readonly [string, readonly Message[], readonly Message[]]>([
    ["in front of what the user says", [user(text("a"), text("b"))], [user(line, text("a"), text("b"))]],
    ["behind tool results", [user(result("c"), result("d"))], [user(result("c"), result("d"), line)]],
    ["between results and words", [user(result("c"), text("a"))], [user(result("c"), line, text("a"))]],
    [
      "in the last message of the user only",
      [user(text("a")), model(text("b")), user(text("c"))],
      [user(text("a")), model(text("b")), user(line, text("c"))],
    ],
    [
      "before a notice of the client",
      [user(text("a")), system(text("n"))],
      [user(line, text("a")), system(text("n"))],
    ],
    [
      "before words the model is to go on with",
      [user(text("a")), model(text("b"))],
      [user(line, text("a")), model(text("b"))],
    ],
    ["nowhere, if the user says nothing", [model(text("b"))], [model(text("b"))]],
  ])("stands %s", (_, given, wanted) => {
    expect(lined(given)).toEqual(wanted);
  });
});

describe("what holds for one turn", () => {
  const said = [user(text("a"))];
  const lined = user(line, text("a"));

  test("is a message that clears itself, where the model knows such", () => {
    expect(sent(said)).toEqual([[lined, clearing], null]);
  });

  test("is a text that stays, where it does not, and only when something begins", () => {
    const kept = [[user(line, text("a"), tail)], null];
    expect(sent(said, { mayClear: false, ...begins })).toEqual(kept);
    expect(sent(said, { traits: boundOnly, ...begins })).toEqual(kept);
    expect(sent(said, { traits: boundOnly })).toEqual([[lined], null]);
  });

  test("is dropped afterwards, where reasoning is not bound", () => {
    expect(sent(said, { traits: unbound })).toEqual([[lined], tail.text]);
  });

  test("stays in a notice of the client, behind which no message may stand", () => {
    const noted = [user(text("a")), system(text("n"))];
    expect(sent(noted, begins)).toEqual([[lined, system(text("n"), tail)], null]);
    expect(sent(noted)).toEqual([[lined, system(text("n"))], null]);
  });

  test("is not said behind words the model is to go on with", () => {
    const begun = [user(text("a")), model(text("b"))];
    for (const traits of [bound, boundOnly, unbound]) {
      expect(sent(begun, { traits, ...begins })).toEqual([[lined, model(text("b"))], null]);
    }
  });

  test("is left out of counts and side questions", () => {
    expect(sent(said, { purpose: "count" })).toEqual([[lined], null]);
    expect(sent(said, { purpose: "aside" })).toEqual([said, null]);
  });
});

describe("instructions that come late", () => {
  const join = { needsJoin: true };

  test("are a system message behind the user's words, or stand in the client's own", () => {
    const said = user(text("a"));
    expect(sent([said], join)).toEqual([[said, system(instructions)], null]);
    expect(sent([user(text("a")), system(text("n"))], join)).toEqual([
      [said, system(text("n"), instructions)],
      null,
    ]);
  });

  test("stand in what the user says where the model takes no system message", () => {
    const said = user(text("a"), instructions);
    expect(sent([user(text("a"))], { ...join, traits: boundOnly })).toEqual([[said], null]);
  });

  test("wait where the model is to go on with its own words", () => {
    const begun = [user(text("a")), model(text("b"))];
    expect(sent(begun, join)).toEqual([begun, null]);
  });
});

describe("a message without content at the end", () => {
  const silent = [user(text("a")), effort];
  const lined = user(line, text("a"));

  test("gets nothing added to it: ours stands before it", () => {
    expect(sent(silent)).toEqual([[lined, clearing, effort], null]);
    expect(sent(silent, { mayClear: false, ...begins })).toEqual([
      [user(line, text("a"), tail), effort],
      null,
    ]);
    expect(sent(silent, { needsJoin: true })).toEqual([
      [user(text("a")), system(instructions), effort],
      null,
    ]);
    expect(sent(silent, { traits: unbound })).toEqual([[lined, effort], null]);
  });

  test("gets nothing added to it when it is all that is said", () => {
    for (const over of [begins, { needsJoin: true }, { traits: unbound }]) {
      expect(sent([effort], over)).toEqual([[effort], null]);
    }
  });
});
