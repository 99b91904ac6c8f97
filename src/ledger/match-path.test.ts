import { describe, expect, test } from "vitest";
import { must } from "../base/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import {
  alignRequest,
  type BaseMatchRules,
  freshUnits,
  type PriorRequest,
  type RequestAlignment,
} from "./align-request.ts";
import { isOwn, type LedgerNode, newNode, nodeBytes, pathTo, rootNode, shownWhole } from "./node.ts";
import { ownTextUnit, rewordUnit, writeUnits } from "./planned-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

type Block = Readonly<Record<string, unknown>>;
type Message = {
  readonly role: string;
  readonly content: readonly Block[];
  readonly [extra: string]: unknown;
};

const text = (content: string): Block => ({ type: "text", text: content });
const reasoning = (thinking: string, signature = thinking): Block => ({
  type: "thinking",
  thinking,
  signature,
});
const result = (id: string, content: string): Block => ({ type: "tool_result", tool_use_id: id, content });
const user = (...content: readonly Block[]): Message => ({ role: "user", content });
const model = (...content: readonly Block[]): Message => ({ role: "assistant", content });

function read(messages: readonly Message[]): WireRequest {
  return must(readRequest(Buffer.from(JSON.stringify({ messages })), null), "it can be read");
}

type AlignOverrides = Partial<BaseMatchRules> & { readonly before?: PriorRequest | null };

function align(
  from: LedgerNode,
  messages: readonly Message[],
  { before = null, ...over }: AlignOverrides = {},
): RequestAlignment {
  const request = read(messages);
  const isOwnLine = (line: string): boolean => /^\[(?:CONTEXT MANIFEST )?k7f3 /.test(line);
  const rules = {
    bytes: request.bytes,
    mayPassOwn: true,
    mayPassReworded: () => true,
    mayPassSystem: true,
    dropsForeignReasoning: false,
    trustsReasoning: false,
    isOwnLine,
    model: null,
    ...over,
  };
  return alignRequest(from, request, { before, rules });
}

/** Sends the messages that are new below a node, and returns the last node. */
function grow(from: LedgerNode, messages: readonly Message[], trustsReasoning = true): LedgerNode {
  const alignment = align(from, messages, { trustsReasoning });
  const { node } = alignment.match;
  return writeUnits(node, freshUnits(alignment), null).nodes.at(-1) ?? node;
}

function growOwn(from: LedgerNode, content: string): LedgerNode {
  const unit = ownTextUnit(anthropic, content, { wrapping: from.wrapping, opensMessage: false });
  return must(writeUnits(from, [unit], null).nodes.at(-1), "it was sent");
}

/** The texts on the matched path, and how each unit of the request was matched. */
function matched(root: LedgerNode, messages: readonly Message[], over: Partial<BaseMatchRules> = {}) {
  const { match } = align(root, messages, over);
  return { path: textsOn(match.node), as: match.steps.map(({ as }) => as).join(" ") };
}

function textsOn(node: LedgerNode): string {
  return pathTo(node).map(textOf).join(" ");
}

function textOf(node: LedgerNode): string {
  const block = JSON.parse(Buffer.from(nodeBytes(node)).toString()) as Block;
  const content = String(block["text"] ?? block["thinking"] ?? block["content"]);
  return isOwn(node) ? `(${content})` : content;
}

describe("a path is matched", () => {
  const root = rootNode("");
  grow(root, [user(text("a")), model(reasoning("t"), text("b")), user(text("c"), text("d"))]);

  test("to its end, or up to the first difference", () => {
    const whole = [user(text("a")), model(reasoning("t"), text("b")), user(text("c"), text("d"))];
    expect(matched(root, whole)).toEqual({ path: "a t b c d", as: "copy copy copy copy copy" });
    expect(matched(root, [...whole, user(text("e"))]).path).toBe("a t b c d");
    expect(matched(root, whole.slice(0, 2)).path).toBe("a t b");
    expect(matched(root, [user(text("a")), model(reasoning("t"), text("x")), user(text("c"))]).path).toBe(
      "a t",
    );
    expect(matched(root, [user(text("x"))])).toEqual({ path: "", as: "" });
  });

  test("not in another role, nor if a field of the message differs", () => {
    expect(matched(root, [model(text("a"))]).path).toBe("");
    expect(matched(root, [{ ...user(text("a")), note: 1 }]).path).toBe("");
  });

  test("past reasoning that the client has dropped or emptied", () => {
    expect(matched(root, [user(text("a")), model(text("b"))])).toEqual({ path: "a t b", as: "copy copy" });
    const emptied = [user(text("a")), model(reasoning("", "t"), text("b"))];
    expect(matched(root, emptied)).toEqual({ path: "a t b", as: "copy copy copy" });
  });

  test("not past reasoning that the client has edited", () => {
    const edited = [user(text("a")), model(reasoning("other", "t"), text("b"))];
    expect(matched(root, edited).path).toBe("a");
    expect(matched(root, edited, { dropsForeignReasoning: true })).toEqual({
      path: "a",
      as: "copy left-out",
    });
  });

  test("past foreign reasoning only if it is left out", () => {
    const foreign = [user(text("a")), model(reasoning("f"), text("b")), user(text("c"))];
    expect(matched(root, foreign).path).toBe("a");
    const left = matched(root, foreign, { dropsForeignReasoning: true });
    expect(left).toEqual({ path: "a t b c", as: "copy left-out copy copy" });
  });

  test("not through foreign reasoning that another model accepted", () => {
    const other = rootNode("");
    const messages = [user(text("a")), model(reasoning("t"), text("b"))];
    grow(other, messages, false);
    expect(matched(other, messages).path).toBe("a t b");
    expect(matched(other, messages, { dropsForeignReasoning: true })).toEqual({
      path: "a",
      as: "copy left-out",
    });
    const dropped = [user(text("a")), model(text("b"))];
    expect(matched(other, dropped, { dropsForeignReasoning: true }).path).toBe("a");
  });

  test("if the client joined texts", () => {
    const start = [user(text("a")), model(reasoning("t"), text("b"))];
    expect(matched(root, [...start, user(text("cd"))])).toEqual({
      path: "a t b c d",
      as: "copy copy copy merged",
    });
    expect(matched(root, [...start, user(text("c\nd"))]).path).toBe("a t b c d");
    expect(matched(root, [...start, user(text("c d"))]).path).toBe("a t b");
    expect(matched(root, [...start, user(text("c\nd\ne"))]).path).toBe("a t b");
  });

  test("if the client joined texts after reasoning that was left out", () => {
    const left = rootNode("");
    grow(left, [user(text("a")), model(text("b"), text("c")), user(text("d"))]);
    const messages = [user(text("a")), model(reasoning("t"), text("b\nc")), user(text("d"))];
    expect(matched(left, messages)).toEqual({ path: "a b c d", as: "copy left-out merged copy" });
  });

  test("if joined texts come back in parts, with reasoning in between", () => {
    const start = user(text("a"));
    const root = rootNode("");
    grow(root, [start, model(text("b\n\nc")), user(text("d"))]);
    const parts = [start, model(text("b"), reasoning("t"), text("c")), user(text("d"))];
    expect(matched(root, parts, { dropsForeignReasoning: true })).toEqual({
      path: "a b\n\nc d",
      as: "copy merged left-out merged copy",
    });
    const others = [start, model(text("b"), text("e")), user(text("d"))];
    expect(matched(root, others)).toEqual({ path: "a", as: "copy" });
  });

  test("if the client joined a text with a line of ours that the model had repeated", () => {
    const start = user(text("a"));
    const line = "[k7f3 turn 1]";
    const root = rootNode("");
    grow(root, [start, model(text("b"), text(line), reasoning("t"), text("c"))]);
    const joined = [start, model(text(`b\n${line}`), reasoning("t"), text("c"))];
    expect(matched(root, joined)).toEqual({ path: `a b ${line} t c`, as: "copy merged copy copy" });
  });

  test("if the client joined texts of the model that had lost our lines", () => {
    const tree = rootNode("");
    const own = text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\n");
    grow(tree, [user(text("a"), own), model(own, text("c"))]);
    const start = user(text("a"), own);
    expect(matched(tree, [start, model(text("b\nc"))]).as).toBe("copy copy merged");
    expect(matched(tree, [start, model(text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\nc"))]).as).toBe(
      "copy copy merged",
    );
    expect(matched(tree, [start, model(text("b\nd"))]).as).toBe("copy copy");
    expect(matched(tree, [user(text("a\nb"))]).as).toBe("");
  });
});

test("a path leads through rewritten units only if the rules allow it", () => {
  const root = rootNode("");
  const [first, second] = freshUnits(align(root, [user(text("a"), text("b"))]));
  const form = { bytes: Buffer.from('{"type":"text","text":"short"}'), shown: shownWhole };
  writeUnits(root, [must(first, "it is new"), rewordUnit(must(second, "it is new"), form)], null);
  const messages = [user(text("a"), text("b"))];
  expect(matched(root, messages).path).toBe("a short");
  expect(matched(root, messages, { mayPassReworded: () => false }).path).toBe("a");
});

test("reasoning that is sent below another node than its answer is foreign", () => {
  const root = rootNode("");
  const answered = grow(root, [user(text("a"))]);
  const other = grow(root, [user(text("b"))]);
  const [unit] = freshUnits(align(root, [model(reasoning("t"))], { trustsReasoning: true }));
  const answerNode = newNode(answered, must(unit, "it is new"));
  const send = (from: LedgerNode) =>
    writeUnits(from, [{ ...must(unit, "it is new"), answerNode }], null).nodes;
  expect(send(other).map(({ isForeignReasoning }) => isForeignReasoning)).toEqual([true]);
  expect(send(answered).map(({ isForeignReasoning }) => isForeignReasoning)).toEqual([false]);
});

describe("a unit of ours", () => {
  const root = rootNode("");
  const first = grow(root, [user(text("a"))]);
  grow(growOwn(first, "[k7f3 turn 1]"), [model(text("b"))]);

  test("lies on a path only if the rules allow it", () => {
    const messages = [user(text("a")), model(text("b"))];
    expect(matched(root, messages).path).toBe("a ([k7f3 turn 1]) b");
    expect(matched(root, messages, { mayPassOwn: false }).path).toBe("a");
  });

  test("never matches a unit of the client", () => {
    expect(matched(root, [user(text("a"), text("[k7f3 turn 1]"))]).path).toBe("a");
  });
});

describe("if several paths match", () => {
  test("the longest wins", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    const own = growOwn(start, "[k7f3 one]");
    grow(own, [model(text("b")), user(text("c"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(text("b")), user(text("d"))]);
    const path = (last: string) => matched(root, [user(text("a")), model(text("b")), user(text(last))]).path;
    expect(path("c")).toBe("a ([k7f3 one]) b c");
    expect(path("d")).toBe("a ([k7f3 two]) b d");
  });

  test("identical bytes win over tolerated differences if both paths are as long", () => {
    const root = rootNode("");
    const call = (input: object): Block => ({ type: "tool_use", id: "c", name: "look", input });
    grow(root, [user(text("a")), model(call({ n: 1, m: 2 }), text("old"))]);
    const edited = grow(root, [user(text("a")), model(call({ n: 1 }), text("new"))]);
    expect(textOf(edited)).toBe("new");
    const back = [user(text("a")), model(call({ n: 1, m: 2 }))];
    const node = align(root, back).match.node;
    expect(Buffer.from(nodeBytes(node)).toString()).toContain('"m":2');
  });

  test("the form of a call does not decide: a client may change it", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    const call = { type: "tool_use", id: "c", name: "look", input: {} };
    const turned = { input: {}, name: "look", id: "c", type: "tool_use" };
    grow(growOwn(start, "[k7f3 one]"), [model(call), user(result("c", "old"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(turned), user(result("c", "new"))]);
    const path = (last: string) => {
      const nodes = pathTo(align(root, [user(text("a")), model(turned), user(result("c", last))]).match.node);
      return nodes.filter(isOwn).map(textOf);
    };
    expect(path("old")).toEqual(["([k7f3 one])"]);
    expect(path("new")).toEqual(["([k7f3 two])"]);
  });

  test("the form of a result does not decide, whichever came first", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    const listed = { ...result("c", "r"), content: [text("r")] };
    grow(growOwn(start, "[k7f3 one]"), [user(result("c", "r")), model(text("old"))]);
    grow(growOwn(start, "[k7f3 two]"), [user(listed), model(text("new"))]);
    const path = (form: Block, last: string) => {
      const { node } = align(root, [user(text("a")), user(form), model(text(last))]).match;
      return pathTo(node).filter(isOwn).map(textOf);
    };
    expect(path(result("c", "r"), "new")).toEqual(["([k7f3 two])"]);
    expect(path(listed, "old")).toEqual(["([k7f3 one])"]);
    expect(path(result("c", "r"), "neither")).toEqual(["([k7f3 two])"]);
  });

  test("among equals the one that was sent to this model wins, because it is cached there", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    for (const [note, name] of [
      ["[k7f3 one]", "opus"],
      ["[k7f3 two]", "sonnet"],
    ] as const) {
      grow(growOwn(start, note), [model(text("b"))]).model = name;
    }
    const path = (name: string) => matched(root, [user(text("a")), model(text("b"))], { model: name }).path;
    expect(path("opus")).toBe("a ([k7f3 one]) b");
    expect(path("sonnet")).toBe("a ([k7f3 two]) b");
    expect(path("haiku")).toBe("a ([k7f3 two]) b");
  });

  test("among equals the path of the previous request wins", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    const before = read([user(text("a")), model(text("b")), user(text("c"))]);
    const last = grow(growOwn(start, "[k7f3 one]"), [model(text("b")), user(text("c"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(text("b")), user(text("d"))]);
    const nodes = pathTo(last).filter((node) => !isOwn(node));
    // Both are known up to where the client has edited, and none of it is written as before.
    const edited = [user(text("a ")), model(text("b ")), user(text("e"))];
    const path = (over: AlignOverrides) => textsOn(align(root, edited, over).match.node);
    expect(path({ before: { request: before, nodes } })).toBe("a ([k7f3 one]) b");
    expect(path({})).toBe("a ([k7f3 two]) b");
  });

  test("a copy on one path does not hide its parts on a longer path", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    grow(growOwn(start, "[k7f3 one]"), [model(text("b"), text("c")), user(text("d")), model(text("e"))]);
    grow(start, [model(text("b\n\nc")), user(text("d"))]);
    const joined = [user(text("a")), model(text("b\n\nc")), user(text("d")), model(text("e"))];
    expect(matched(root, joined)).toEqual({ path: "a ([k7f3 one]) b c d e", as: "copy merged copy copy" });
  });

  test("among equals the newest wins", () => {
    const root = rootNode("");
    const start = grow(root, [user(text("a"))]);
    for (const n of ["one", "two"]) grow(growOwn(start, `[k7f3 ${n}]`), [model(text("b"))]);
    expect(matched(root, [user(text("a")), model(text("b"))]).path).toBe("a ([k7f3 two]) b");
  });

  test("another result of the same call does not match", () => {
    const root = rootNode("");
    grow(root, [user(result("c1", "old"))]);
    expect(matched(root, [user(result("c1", "new"))]).path).toBe("");
    expect(matched(root, [user(result("c2", "old"))]).path).toBe("");
    expect(matched(root, [user(result("c1", " old\n"))]).path).toBe("old");
  });
});

test("a form that matched once is known by its hash from then on", () => {
  const root = rootNode("");
  const node = grow(root, [user(result("c1", "old"))]);
  expect(node.knownHashes.length).toBe(0);
  matched(root, [user(result("c1", " old"))]);
  expect(node.knownHashes.length).toBe(1);
  matched(root, [user(result("c1", "new"))]);
  expect(node.knownHashes.length).toBe(1);
  for (let n = 0; n < 20; n += 1) matched(root, [user(result("c1", `old${" ".repeat(n)}`))]);
  expect(node.knownHashes.length).toBeLessThanOrEqual(8);
});

test("repeated reasoning does not make matching try every combination", () => {
  const root = rootNode("");
  const messages = (count: number, end: string) => [
    user(text("a")),
    model(...Array.from({ length: count }, () => reasoning("r")), text("b")),
    user(text(end)),
  ];
  for (let count = 40; count >= 0; count -= 1) grow(root, messages(count, "c"));
  const { match } = align(root, messages(40, "d"));
  expect(match.steps).toHaveLength(42);
});
