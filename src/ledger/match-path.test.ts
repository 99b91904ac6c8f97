import { describe, expect, test } from "vitest";
import { plainMatchRules } from "../../test/support/match-rules.ts";
import { must } from "../base/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import {
  alignRequest,
  type BaseMatchRules,
  freshUnits,
  type PriorRequest,
  type RequestAlignment,
} from "./align-request.ts";
import { AppendList } from "./append-list.ts";
import { addRoot, emptyTree, type LedgerTree, nodeAt, pathTo, TreeDraft } from "./ledger-tree.ts";
import { isOwn, type LedgerNode, type NodeIndex, nodeBytes, shownWhole } from "./node.ts";
import { ownTextUnit, type PlannedUnit, rewordUnit, writeUnits } from "./planned-units.ts";

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

/** The newest tree of a test, which grows below its root. */
class GrownTree {
  readonly root: NodeIndex;
  tree: LedgerTree;

  constructor() {
    const { tree, root } = addRoot(emptyTree, "");
    [this.tree, this.root] = [tree, root.index];
  }

  at(index: NodeIndex): LedgerNode {
    return nodeAt(this.tree, index);
  }

  align(
    messages: readonly Message[],
    { before = null, ...over }: AlignOverrides = {},
    from: NodeIndex = this.root,
  ): RequestAlignment {
    const request = read(messages);
    const isOwnLine = (line: string): boolean => /^\[(?:CONTEXT MANIFEST )?k7f3 /.test(line);
    const rules = { ...plainMatchRules(this.tree, request), isOwnLine, ...over };
    return alignRequest(this.at(from), request, { before, rules });
  }

  write(from: NodeIndex, units: readonly PlannedUnit[], model: string | null = null): readonly LedgerNode[] {
    const draft = new TreeDraft(this.tree);
    const { nodes } = writeUnits(draft, this.at(from), { units, model });
    this.tree = draft.done();
    return nodes;
  }

  /** Sends the messages that are new below a node, and returns the last node. */
  grow(
    messages: readonly Message[],
    { from = this.root, trustsReasoning = true, model = null }: Growth = {},
  ) {
    const alignment = this.align(messages, { trustsReasoning }, from);
    const { index } = alignment.end;
    return this.write(index, freshUnits(alignment), model).at(-1)?.index ?? index;
  }

  growOwn(content: string, from: NodeIndex): NodeIndex {
    const { wrapping } = this.at(from);
    const unit = ownTextUnit(anthropic, content, { wrapping, opensMessage: false });
    return must(this.write(from, [unit]).at(-1), "it was sent").index;
  }

  pathTo(index: NodeIndex): readonly LedgerNode[] {
    return pathTo(this.tree, this.at(index));
  }
}

type Growth = {
  readonly from?: NodeIndex;
  readonly trustsReasoning?: boolean;
  readonly model?: string | null;
};

/** The texts on the matched path, and how each unit of the request was matched. */
function matched(tree: GrownTree, messages: readonly Message[], over: Partial<BaseMatchRules> = {}) {
  const { end, steps } = tree.align(messages, over);
  return { path: textsOn(tree, end), as: steps.map(({ as }) => as).join(" ") };
}

function textsOn(tree: GrownTree, { index }: LedgerNode): string {
  return tree.pathTo(index).map(textOf).join(" ");
}

function textOf(node: LedgerNode): string {
  const block = JSON.parse(Buffer.from(nodeBytes(node)).toString()) as Block;
  const content = String(block["text"] ?? block["thinking"] ?? block["content"]);
  return isOwn(node) ? `(${content})` : content;
}

describe("a path is matched", () => {
  const tree = new GrownTree();
  tree.grow([user(text("a")), model(reasoning("t"), text("b")), user(text("c"), text("d"))]);

  test("to its end, or up to the first difference", () => {
    const whole = [user(text("a")), model(reasoning("t"), text("b")), user(text("c"), text("d"))];
    expect(matched(tree, whole)).toEqual({ path: "a t b c d", as: "copy copy copy copy copy" });
    expect(matched(tree, [...whole, user(text("e"))]).path).toBe("a t b c d");
    expect(matched(tree, whole.slice(0, 2)).path).toBe("a t b");
    expect(matched(tree, [user(text("a")), model(reasoning("t"), text("x")), user(text("c"))]).path).toBe(
      "a t",
    );
    expect(matched(tree, [user(text("x"))])).toEqual({ path: "", as: "" });
  });

  test("not in another role, nor if a field of the message differs", () => {
    expect(matched(tree, [model(text("a"))]).path).toBe("");
    expect(matched(tree, [{ ...user(text("a")), note: 1 }]).path).toBe("");
  });

  test("past reasoning that the client has dropped or emptied", () => {
    expect(matched(tree, [user(text("a")), model(text("b"))])).toEqual({ path: "a t b", as: "copy copy" });
    const emptied = [user(text("a")), model(reasoning("", "t"), text("b"))];
    expect(matched(tree, emptied)).toEqual({ path: "a t b", as: "copy copy copy" });
  });

  test("not past reasoning that the client has edited", () => {
    const edited = [user(text("a")), model(reasoning("other", "t"), text("b"))];
    expect(matched(tree, edited).path).toBe("a");
    expect(matched(tree, edited, { dropsForeignReasoning: true })).toEqual({
      path: "a",
      as: "copy left-out",
    });
  });

  test("past foreign reasoning only if it is left out", () => {
    const foreign = [user(text("a")), model(reasoning("f"), text("b")), user(text("c"))];
    expect(matched(tree, foreign).path).toBe("a");
    const left = matched(tree, foreign, { dropsForeignReasoning: true });
    expect(left).toEqual({ path: "a t b c", as: "copy left-out copy copy" });
  });

  test("not through foreign reasoning that another model accepted", () => {
    const other = new GrownTree();
    const messages = [user(text("a")), model(reasoning("t"), text("b"))];
    other.grow(messages, { trustsReasoning: false });
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
    expect(matched(tree, [...start, user(text("cd"))])).toEqual({
      path: "a t b c d",
      as: "copy copy copy merged",
    });
    expect(matched(tree, [...start, user(text("c\nd"))]).path).toBe("a t b c d");
    expect(matched(tree, [...start, user(text("c d"))]).path).toBe("a t b");
    expect(matched(tree, [...start, user(text("c\nd\ne"))]).path).toBe("a t b");
  });

  test("if the client joined texts after reasoning that was left out", () => {
    const left = new GrownTree();
    left.grow([user(text("a")), model(text("b"), text("c")), user(text("d"))]);
    const messages = [user(text("a")), model(reasoning("t"), text("b\nc")), user(text("d"))];
    expect(matched(left, messages)).toEqual({ path: "a b c d", as: "copy left-out merged copy" });
  });

  test("if joined texts come back in parts, with reasoning in between", () => {
    const start = user(text("a"));
    const tree = new GrownTree();
    tree.grow([start, model(text("b\n\nc")), user(text("d"))]);
    const parts = [start, model(text("b"), reasoning("t"), text("c")), user(text("d"))];
    expect(matched(tree, parts, { dropsForeignReasoning: true })).toEqual({
      path: "a b\n\nc d",
      as: "copy merged left-out merged copy",
    });
    const others = [start, model(text("b"), text("e")), user(text("d"))];
    expect(matched(tree, others)).toEqual({ path: "a", as: "copy" });
  });

  test("if the client joined a text with a line of ours that the model had repeated", () => {
    const start = user(text("a"));
    const line = "[k7f3 turn 1]";
    const tree = new GrownTree();
    tree.grow([start, model(text("b"), text(line), reasoning("t"), text("c"))]);
    const joined = [start, model(text(`b\n${line}`), reasoning("t"), text("c"))];
    expect(matched(tree, joined)).toEqual({ path: `a b ${line} t c`, as: "copy merged copy copy" });
  });

  test("if the client joined texts of the model that had lost our lines", () => {
    const tree = new GrownTree();
    const own = text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\n");
    tree.grow([user(text("a"), own), model(own, text("c"))]);
    const start = user(text("a"), own);
    expect(matched(tree, [start, model(text("b\nc"))]).as).toBe("copy copy merged");
    expect(matched(tree, [start, model(text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\nc"))]).as).toBe(
      "copy copy merged",
    );
    expect(matched(tree, [start, model(text("b\nd"))]).as).toBe("copy copy");
    expect(matched(tree, [user(text("a\nb"))]).as).toBe("");
  });
});

test("a path leads through rewritten units, but through none with notes that must be avoided", () => {
  const tree = new GrownTree();
  const [first, second] = freshUnits(tree.align([user(text("a"), text("b"))]));
  const form = { bytes: Buffer.from('{"type":"text","text":"[k7f3 short]"}'), shown: shownWhole };
  tree.write(tree.root, [must(first, "it is new"), rewordUnit(must(second, "it is new"), form)]);
  const messages = [user(text("a"), text("b"))];
  expect(matched(tree, messages).path).toBe("a [k7f3 short]");
  const notesToAvoid = (nonce: string) => ({ notesToAvoid: { nonce, withheld: new Map() } });
  expect(matched(tree, messages, notesToAvoid("k7f3")).path).toBe("a");
  expect(matched(tree, messages, notesToAvoid("z9z9")).path).toBe("a [k7f3 short]");
});

test("reasoning that is sent below another node than its answer is foreign", () => {
  const tree = new GrownTree();
  const answered = tree.grow([user(text("a"))]);
  const other = tree.grow([user(text("b"))]);
  const [unit] = freshUnits(tree.align([model(reasoning("t"))], { trustsReasoning: true }));
  const reasoned = must(unit, "it is new");
  const draft = new TreeDraft(tree.tree);
  const answerNode = draft.nodeBelow(tree.at(answered), reasoned);
  draft.add(answerNode);
  tree.tree = draft.done();
  const send = (from: NodeIndex) => tree.write(from, [{ ...reasoned, answerNode }]);
  expect(send(other).map(({ isForeignReasoning }) => isForeignReasoning)).toEqual([true]);
  expect(send(answered).map(({ isForeignReasoning }) => isForeignReasoning)).toEqual([false]);
});

describe("a unit of ours", () => {
  const tree = new GrownTree();
  const first = tree.grow([user(text("a"))]);
  tree.grow([model(text("b"))], { from: tree.growOwn("[k7f3 turn 1]", first) });

  test("lies on a path only if the rules allow it", () => {
    const messages = [user(text("a")), model(text("b"))];
    expect(matched(tree, messages).path).toBe("a ([k7f3 turn 1]) b");
    expect(matched(tree, messages, { mayPassOwn: false }).path).toBe("a");
  });

  test("never matches a unit of the client", () => {
    expect(matched(tree, [user(text("a"), text("[k7f3 turn 1]"))]).path).toBe("a");
  });
});

describe("if several paths match", () => {
  test("the longest wins", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    const own = tree.growOwn("[k7f3 one]", start);
    tree.grow([model(text("b")), user(text("c"))], { from: own });
    tree.grow([model(text("b")), user(text("d"))], { from: tree.growOwn("[k7f3 two]", start) });
    const path = (last: string) => matched(tree, [user(text("a")), model(text("b")), user(text(last))]).path;
    expect(path("c")).toBe("a ([k7f3 one]) b c");
    expect(path("d")).toBe("a ([k7f3 two]) b d");
  });

  test("identical bytes win over tolerated differences if both paths are as long", () => {
    const tree = new GrownTree();
    const call = (input: object): Block => ({ type: "tool_use", id: "c", name: "look", input });
    tree.grow([user(text("a")), model(call({ n: 1, m: 2 }), text("old"))]);
    const edited = tree.grow([user(text("a")), model(call({ n: 1 }), text("new"))]);
    expect(textOf(tree.at(edited))).toBe("new");
    const back = [user(text("a")), model(call({ n: 1, m: 2 }))];
    expect(Buffer.from(nodeBytes(tree.align(back).end)).toString()).toContain('"m":2');
  });

  test("the form of a call does not decide: a client may change it", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    const call = { type: "tool_use", id: "c", name: "look", input: {} };
    const turned = { input: {}, name: "look", id: "c", type: "tool_use" };
    tree.grow([model(call), user(result("c", "old"))], { from: tree.growOwn("[k7f3 one]", start) });
    tree.grow([model(turned), user(result("c", "new"))], { from: tree.growOwn("[k7f3 two]", start) });
    const path = (last: string) => {
      const { end } = tree.align([user(text("a")), model(turned), user(result("c", last))]);
      return tree.pathTo(end.index).filter(isOwn).map(textOf);
    };
    expect(path("old")).toEqual(["([k7f3 one])"]);
    expect(path("new")).toEqual(["([k7f3 two])"]);
  });

  test("the form of a result does not decide, whichever came first", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    const listed = { ...result("c", "r"), content: [text("r")] };
    tree.grow([user(result("c", "r")), model(text("old"))], { from: tree.growOwn("[k7f3 one]", start) });
    tree.grow([user(listed), model(text("new"))], { from: tree.growOwn("[k7f3 two]", start) });
    const path = (form: Block, last: string) => {
      const { end } = tree.align([user(text("a")), user(form), model(text(last))]);
      return tree.pathTo(end.index).filter(isOwn).map(textOf);
    };
    expect(path(result("c", "r"), "new")).toEqual(["([k7f3 two])"]);
    expect(path(listed, "old")).toEqual(["([k7f3 one])"]);
    expect(path(result("c", "r"), "neither")).toEqual(["([k7f3 two])"]);
  });

  test("among equals the one that was sent to this model wins, because it is cached there", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    for (const [note, name] of [
      ["[k7f3 one]", "opus"],
      ["[k7f3 two]", "sonnet"],
    ] as const) {
      tree.grow([model(text("b"))], { from: tree.growOwn(note, start), model: name });
    }
    const path = (name: string) => matched(tree, [user(text("a")), model(text("b"))], { model: name }).path;
    expect(path("opus")).toBe("a ([k7f3 one]) b");
    expect(path("sonnet")).toBe("a ([k7f3 two]) b");
    expect(path("haiku")).toBe("a ([k7f3 two]) b");
  });

  test("among equals the path of the previous request wins", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    const before = read([user(text("a")), model(text("b")), user(text("c"))]);
    const last = tree.grow([model(text("b")), user(text("c"))], { from: tree.growOwn("[k7f3 one]", start) });
    tree.grow([model(text("b")), user(text("d"))], { from: tree.growOwn("[k7f3 two]", start) });
    const client = tree.pathTo(last).filter((node) => !isOwn(node));
    const nodes = AppendList.of(client.map(({ index }) => index));
    // Both are known up to where the client has edited, and none of it is written as before.
    const edited = [user(text("a ")), model(text("b ")), user(text("e"))];
    const path = (over: AlignOverrides) => textsOn(tree, tree.align(edited, over).end);
    expect(path({ before: { request: before, nodes } })).toBe("a ([k7f3 one]) b");
    expect(path({})).toBe("a ([k7f3 two]) b");
  });

  test("a copy on one path does not hide its parts on a longer path", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    tree.grow([model(text("b"), text("c")), user(text("d")), model(text("e"))], {
      from: tree.growOwn("[k7f3 one]", start),
    });
    tree.grow([model(text("b\n\nc")), user(text("d"))], { from: start });
    const joined = [user(text("a")), model(text("b\n\nc")), user(text("d")), model(text("e"))];
    expect(matched(tree, joined)).toEqual({ path: "a ([k7f3 one]) b c d e", as: "copy merged copy copy" });
  });

  test("among equals the newest wins", () => {
    const tree = new GrownTree();
    const start = tree.grow([user(text("a"))]);
    for (const n of ["one", "two"])
      tree.grow([model(text("b"))], { from: tree.growOwn(`[k7f3 ${n}]`, start) });
    expect(matched(tree, [user(text("a")), model(text("b"))]).path).toBe("a ([k7f3 two]) b");
  });

  test("another result of the same call does not match", () => {
    const tree = new GrownTree();
    tree.grow([user(result("c1", "old"))]);
    expect(matched(tree, [user(result("c1", "new"))]).path).toBe("");
    expect(matched(tree, [user(result("c2", "old"))]).path).toBe("");
    expect(matched(tree, [user(result("c1", " old\n"))]).path).toBe("old");
  });
});

test("a form that matched once is known by its hash from then on", () => {
  const tree = new GrownTree();
  const node = tree.grow([user(result("c1", "old"))]);
  const hashesAfter = (content: string): number => {
    tree.tree = tree.align([user(result("c1", content))]).tree;
    return tree.at(node).knownHashes.length;
  };
  const before = tree.tree;
  expect([hashesAfter(" old"), hashesAfter("new"), hashesAfter(" old")]).toEqual([1, 1, 1]);
  for (let n = 0; n < 20; n += 1) hashesAfter(`old${" ".repeat(n)}`);
  expect(hashesAfter("old")).toBeLessThanOrEqual(8);
  expect(nodeAt(before, node).knownHashes).toEqual([]);
});

test("repeated reasoning does not make matching try every combination", () => {
  const tree = new GrownTree();
  const messages = (count: number, end: string) => [
    user(text("a")),
    model(...Array.from({ length: count }, () => reasoning("r")), text("b")),
    user(text(end)),
  ];
  for (let count = 40; count >= 0; count -= 1) tree.grow(messages(count, "c"));
  const { steps } = tree.align(messages(40, "d"));
  expect(steps).toHaveLength(42);
});
