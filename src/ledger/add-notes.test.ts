import { describe, expect, test } from "vitest";
import { plainMatchRules } from "../../test/support/match-rules.ts";
import { shownFacts } from "../../test/support/render-facts.ts";
import { must } from "../base/index.ts";
import type { ShownMemory } from "../notes/index.ts";
import { instructions as instructionsText } from "../notes/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { addNotes, missingMemories, type NotesInput } from "./add-notes.ts";
import { alignRequest, freshUnits } from "./align-request.ts";
import { noWishes } from "./all-wishes.ts";
import { defaultAwareness } from "./awareness-settings.ts";
import type { HeaderInput } from "./block-headers.ts";
import { addRoot, emptyTree } from "./ledger-tree.ts";
import { ownTextUnit, type PlannedUnit, previewUnits } from "./planned-units.ts";
import type { RequestHead } from "./request-head.ts";
import { noUnlogged } from "./unlogged-blocks.ts";
import { firstTail, type TailInput, writeTail } from "./write-tail.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

type Message = { readonly role: string; readonly content: readonly object[] };

const text = (content: string) => ({ type: "text", text: content });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "seen" });
const user = (...content: readonly object[]): Message => ({ role: "user", content });
const system = (...content: readonly object[]): Message => ({ role: "system", content });
const model = (...content: readonly object[]): Message => ({ role: "assistant", content });
const effort = { ...system(), output_config: { effort: "low" } };

const { tree, root } = addRoot(emptyTree, "");

const header: HeaderInput = {
  protocol: anthropic,
  headers: "compact",
  timeMs: Date.UTC(2026, 10, 15, 14, 5),
  zoneMinutes: 0,
  names: [],
  nonce: "k7f3",
  turn: 7,
  // Long ago, so that every request gets a header.
  lastTurnMs: Date.UTC(2026, 10, 15, 9, 0),
  earlierBlocks: [],
  memoryLines: [],
};

/** The tail of a turn inside an epoch. A carrier that stays says nothing, unless something has changed. */
const quiet: TailInput = {
  nonce: "k7f3",
  awareness: defaultAwareness,
  window: 200_000,
  readPrice: 0.1,
  latest: {
    ...{ streamKey: "l", seq: 9, turn: 6, tokenRate: 1, headerNames: [], levels: [], held: [] },
    facts: { ...shownFacts, expiring: [], changes: [] },
  },
  levels: noWishes().levels,
  unlogged: noUnlogged(true),
  isNumbered: true,
  changesSeq: 0,
  state: firstTail,
  turn: 7,
  isEpochStart: false,
  isNext: true,
  freshBlocks: [],
  before: { tree, head: {} as RequestHead, end: root, units: [] }, // a request that continues does not look
  reshow: { rewrite: null, losesReasoning: false, withheld: new Map() },
};

const line = text("[k7f3 turn 7, 14:05 +5h5m]");
const tail = text(writeTail(quiet, "clearing").text ?? "");
const instructions = text(instructionsText("k7f3", { hasTools: false }));
const clearing = { role: "system", clear_at: "next_user_message", content: [tail] };

const bound = { isBound: true, hasMidSystem: true };
const boundOnly = { isBound: true, hasMidSystem: false };
const unbound = { isBound: false, hasMidSystem: true };

/** At the start of an epoch every carrier writes. */
const alwaysWrites = { tail: { ...quiet, isEpochStart: true } };
const keptTail = text(writeTail(alwaysWrites.tail, "kept").text ?? "");

/** The messages that are sent if all are new, and the dropped tail. */
function sent(
  messages: readonly Message[],
  over: Partial<NotesInput> = {},
): readonly [unknown, string | null] {
  const { bytes, tail: end, droppedTail } = preview(messages, over);
  return [JSON.parse(`[${bytes}${end}]`), droppedTail];
}

function preview(messages: readonly Message[], over: Partial<NotesInput>) {
  const body = Buffer.from(JSON.stringify({ model: "m", messages }));
  const request: WireRequest = must(readRequest(body, null), "the body can be read");
  const rules = plainMatchRules(tree, request);
  const { units, droppedTail } = addNotes({
    protocol: anthropic,
    units: freshUnits(alignRequest(root, request, { before: null, rules })),
    lastNode: root,
    notes: "all",
    header,
    tail: quiet,
    traits: bound,
    mayClear: true,
    keepsTail: false,
    needsInstructions: false,
    ...over,
  });
  return { ...previewUnits({ end: 0, tail: "" }, units), droppedTail };
}

describe("the header line", () => {
  const lined = (messages: readonly Message[]) => sent(messages, { notes: "lasting" })[0];

  test.each<readonly [string, readonly Message[], readonly Message[]]>([
    ["before the user's text", [user(text("a"), text("b"))], [user(line, text("a"), text("b"))]],
    ["after tool results", [user(result("c"), result("d"))], [user(result("c"), result("d"), line)]],
    ["between results and text", [user(result("c"), text("a"))], [user(result("c"), line, text("a"))]],
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
      "before an answer that the model is to continue",
      [user(text("a")), model(text("b"))],
      [user(line, text("a")), model(text("b"))],
    ],
    ["nowhere without a user message", [model(text("b"))], [model(text("b"))]],
  ])("stands %s", (_, given, wanted) => {
    expect(lined(given)).toEqual(wanted);
  });
});

describe("the tail", () => {
  const messages = [user(text("a"))];
  const lined = user(line, text("a"));

  test("is a self-clearing message if the model knows these", () => {
    expect(sent(messages)).toEqual([[lined, clearing], null]);
  });

  test("is a text that stays for every model if the client's texts stay too", () => {
    const kept = [[user(line, text("a"), keptTail)], null];
    for (const traits of [bound, boundOnly, unbound])
      expect(sent(messages, { traits, keepsTail: true, ...alwaysWrites })).toEqual(kept);
  });

  test("is else a text that stays, and only if there is something new to say", () => {
    const kept = [[user(line, text("a"), keptTail)], null];
    expect(sent(messages, { mayClear: false, ...alwaysWrites })).toEqual(kept);
    expect(sent(messages, { traits: boundOnly, ...alwaysWrites })).toEqual(kept);
    expect(sent(messages, { traits: boundOnly })).toEqual([[lined], null]);
  });

  test("is dropped afterwards if reasoning is not bound", () => {
    expect(sent(messages, { traits: unbound })).toEqual([[lined], tail.text]);
  });

  test("goes into the client's system message, after which no message may follow", () => {
    const noted = [user(text("a")), system(text("n"))];
    expect(sent(noted, alwaysWrites)).toEqual([[lined, system(text("n"), keptTail)], null]);
    expect(sent(noted)).toEqual([[lined, system(text("n"))], null]);
  });

  test("is not added after an answer that the model is to continue", () => {
    const begun = [user(text("a")), model(text("b"))];
    for (const traits of [bound, boundOnly, unbound]) {
      expect(sent(begun, { traits, ...alwaysWrites })).toEqual([[lined, model(text("b"))], null]);
    }
  });

  test("is left out of counts and side questions", () => {
    expect(sent(messages, { notes: "lasting" })).toEqual([[lined], null]);
    expect(sent(messages, { notes: "none" })).toEqual([messages, null]);
  });
});

describe("late instructions", () => {
  const late = { needsInstructions: true };

  test("are a system message after the user's text, or part of the client's", () => {
    const message = user(text("a"));
    expect(sent([message], late)).toEqual([[message, system(instructions)], null]);
    expect(sent([user(text("a")), system(text("n"))], late)).toEqual([
      [message, system(text("n"), instructions)],
      null,
    ]);
  });

  test("are part of the user message if the model takes no system message there", () => {
    const message = user(text("a"), instructions);
    expect(sent([user(text("a"))], { ...late, traits: boundOnly })).toEqual([[message], null]);
  });

  test("wait if the model is to continue its answer", () => {
    const begun = [user(text("a")), model(text("b"))];
    expect(sent(begun, late)).toEqual([begun, null]);
  });
});

describe("a message without content at the end", () => {
  const silent = [user(text("a")), effort];
  const lined = user(line, text("a"));

  test("gets nothing added: our notes precede it", () => {
    expect(sent(silent)).toEqual([[lined, clearing, effort], null]);
    expect(sent(silent, { mayClear: false, ...alwaysWrites })).toEqual([
      [user(line, text("a"), keptTail), effort],
      null,
    ]);
    expect(sent(silent, { needsInstructions: true })).toEqual([
      [user(text("a")), system(instructions), effort],
      null,
    ]);
    expect(sent(silent, { traits: unbound })).toEqual([[lined, effort], null]);
  });

  test("gets nothing added if it is the only message", () => {
    for (const over of [alwaysWrites, { needsInstructions: true }, { traits: unbound }]) {
      expect(sent([effort], over)).toEqual([[effort], null]);
    }
  });
});

describe("missing memories", () => {
  const memory: ShownMemory = { block: 9, text: 'The server is "heron",\nnot "crane".', taint: "model" };
  const memoryLine = '[k7f3 memory #9, yours: The server is "heron", not "crane".]';
  const missing = (...units: readonly PlannedUnit[]): readonly string[] =>
    missingMemories([memory], { tree, end: root, units }, "k7f3");
  const own = (content: string): PlannedUnit =>
    ownTextUnit(anthropic, content, { wrapping: anthropic.write.message("user"), opensMessage: true });

  test("are written once, if no unit of ours has them", () => {
    expect(missing()).toEqual([memoryLine]);
    expect(missing(own("[k7f3 turn 3]"))).toEqual([memoryLine]);
    expect(missing(own(`[k7f3 turn 3]\n${memoryLine}`))).toEqual([]);
  });

  test("are not written while the call that made them is sent", () => {
    const input = JSON.stringify({ type: "tool_use", input: { text: memory.text } });
    const call = (bytes: string): PlannedUnit => {
      const unit = own("");
      const facts = { ...unit.facts, kind: "tool-call", isHidden: true } as const;
      return { ...unit, origin: "model", facts, bytes: Buffer.from(bytes) };
    };
    expect(missing(call(input))).toEqual([]);
    expect(missing(call(JSON.stringify({ type: "tool_use", input: {} })))).toEqual([memoryLine]);
  });

  test("are not found in units of the client", () => {
    const unit = own(`${memoryLine} ${memory.text}`);
    expect(missing({ ...unit, origin: "client" })).toEqual([memoryLine]);
  });
});
