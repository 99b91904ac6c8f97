import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { spellItems } from "./draft.ts";
import { ownTexts } from "./inserts.ts";
import { type OwnAsked, withOwn } from "./own-items.ts";
import { rootPlace } from "./place.ts";
import { freshItems, traceRequest } from "./trace.ts";

type Message = { readonly role: string; readonly content: readonly object[] };

const texts = ownTexts("k7f3");
const text = (words: string) => ({ type: "text", text: words });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "seen" });
const user = (...content: readonly object[]): Message => ({ role: "user", content });
const system = (...content: readonly object[]): Message => ({ role: "system", content });
const model = (...content: readonly object[]): Message => ({ role: "assistant", content });
const effort = { ...system(), output_config: { effort: "low" } };

const line = text("[k7f3 turn 7]");
const tail = text("[k7f3 context of turn 7: nothing is archived]");
const instructions = text(texts.instructions);
const clearing = { role: "system", clear_at: "next_user_message", content: [tail] };

const bound = { isBound: true, hasMidSystem: true };
const boundOnly = { isBound: true, hasMidSystem: false };
const unbound = { isBound: false, hasMidSystem: true };

/** What is sent for messages that are all new, and what is dropped afterwards. */
function sent(messages: readonly Message[], over: Partial<OwnAsked> = {}): readonly [unknown, string | null] {
  const { bytes, tail: end, dropped } = spelled(messages, over);
  return [JSON.parse(`[${bytes}${end}]`), dropped];
}

function spelled(messages: readonly Message[], over: Partial<OwnAsked>) {
  const body = Buffer.from(JSON.stringify({ model: "m", messages }));
  const request: WireRequest = must(ingestRequest(body, null), "the body can be read");
  const through = { throughOwn: true, throughSystem: true };
  const rules = {
    bytes: request.bytes,
    ...through,
    leavesOut: false,
    trusts: false,
    isOwnLine: texts.isOwnLine,
    model: null,
  };
  const root = rootPlace("");
  const items = freshItems(traceRequest(root, request, { before: null, rules }));
  const usual = { texts, turn: 7, traits: bound, mayClear: true, needsJoin: false, isEpochStart: false };
  const own = withOwn({ items, last: root, purpose: "turn", ...usual, ...over });
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
  const withLine = user(line, text("a"));

  test("is a message that clears itself, where the model knows such", () => {
    expect(sent(said)).toEqual([[withLine, clearing], null]);
  });

  test("is a text that stays, where it does not, and only when something begins", () => {
    const kept = [[user(line, text("a"), tail)], null];
    expect(sent(said, { mayClear: false, isEpochStart: true })).toEqual(kept);
    expect(sent(said, { traits: boundOnly, isEpochStart: true })).toEqual(kept);
    expect(sent(said, { traits: boundOnly })).toEqual([[withLine], null]);
  });

  test("is dropped afterwards, where reasoning is not bound", () => {
    expect(sent(said, { traits: unbound })).toEqual([[withLine], tail.text]);
  });

  test("stays in a notice of the client, behind which no message may stand", () => {
    const noted = [user(text("a")), system(text("n"))];
    expect(sent(noted, { isEpochStart: true })).toEqual([[withLine, system(text("n"), tail)], null]);
    expect(sent(noted)).toEqual([[withLine, system(text("n"))], null]);
  });

  test("is not said behind words the model is to go on with", () => {
    const begun = [user(text("a")), model(text("b"))];
    for (const traits of [bound, boundOnly, unbound]) {
      expect(sent(begun, { traits, isEpochStart: true })).toEqual([[withLine, model(text("b"))], null]);
    }
  });

  test("is left out of counts and side questions", () => {
    expect(sent(said, { purpose: "count" })).toEqual([[withLine], null]);
    expect(sent(said, { purpose: "aside" })).toEqual([said, null]);
  });
});

describe("instructions that come late", () => {
  const join = { needsJoin: true };

  test("are a system message behind the user's words, or stand in the client's own", () => {
    const withLine = user(line, text("a"));
    expect(sent([user(text("a"))], join)).toEqual([[withLine, system(instructions)], null]);
    expect(sent([user(text("a")), system(text("n"))], join)).toEqual([
      [withLine, system(text("n"), instructions)],
      null,
    ]);
  });

  test("wait where the model takes no system message, or is to go on with its own words", () => {
    expect(sent([user(text("a"))], { ...join, traits: boundOnly })).toEqual([[user(line, text("a"))], null]);
    const begun = [user(text("a")), model(text("b"))];
    expect(sent(begun, join)).toEqual([[user(line, text("a")), model(text("b"))], null]);
  });
});

describe("a message without content at the end", () => {
  const silent = [user(text("a")), effort];
  const withLine = user(line, text("a"));

  test("gets nothing added to it: ours stands before it", () => {
    expect(sent(silent)).toEqual([[withLine, clearing, effort], null]);
    expect(sent(silent, { mayClear: false, isEpochStart: true })).toEqual([
      [user(line, text("a"), tail), effort],
      null,
    ]);
    expect(sent(silent, { needsJoin: true })).toEqual([[withLine, system(instructions), effort], null]);
    expect(sent(silent, { traits: unbound })).toEqual([[withLine, effort], null]);
  });

  test("gets nothing added to it when it is all that is said", () => {
    for (const over of [{ isEpochStart: true }, { needsJoin: true }, { traits: unbound }]) {
      expect(sent([effort], over)).toEqual([[effort], null]);
    }
  });
});
