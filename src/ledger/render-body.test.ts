import { describe, expect, test } from "vitest";
import { plainMatchRules } from "../../test/support/match-rules.ts";
import { must } from "../base/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { alignRequest, freshUnits, type RequestAlignment } from "./align-request.ts";
import { NumberDraft, sessionNumbers, streamNumbers } from "./block-numbers.ts";
import { addRoot, childrenOf, emptyTree, type LedgerTree, nodeAt, TreeDraft } from "./ledger-tree.ts";
import type { LedgerNode, NodeIndex } from "./node.ts";
import { nodesAfter } from "./plan.ts";
import type { LedgerRequest } from "./plan-request.ts";
import { ownTextUnit, type PlannedUnit, writeUnits } from "./planned-units.ts";
import { previewPlan } from "./render-body.ts";
import { headIdOf, noOwnHead, openHead, type RequestHead, withFields } from "./request-head.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const mark = { cache_control: { type: "ephemeral" } };
const text = (content: string, over: object = {}) => ({ type: "text", text: content, ...over });
const user = (...content: readonly object[]) => ({ role: "user", content });
const model = (...content: readonly object[]) => ({ role: "assistant", content });

function read(...messages: readonly object[]): WireRequest {
  const body = { model: "claude-opus-4-8", max_tokens: 9, messages };
  return must(readRequest(Buffer.from(JSON.stringify(body)), null), "it can be read");
}

/** A head for a request, and the newest tree below it. */
class HeadedTree {
  readonly head: RequestHead;
  tree: LedgerTree;

  constructor(request: WireRequest) {
    const draft = new NumberDraft(streamNumbers(sessionNumbers()), 1);
    const opened = openHead({ request, ownHead: noOwnHead, draft, counter: new TokenCounter(null, 1) });
    const { tree, root } = addRoot(emptyTree, headIdOf(opened));
    [this.tree, this.head] = [tree, { ...opened, root: root.index }];
  }

  get root(): LedgerNode {
    return nodeAt(this.tree, this.head.root);
  }

  align(request: WireRequest): RequestAlignment {
    const rules = plainMatchRules(this.tree, request);
    return alignRequest(this.root, request, { before: null, rules });
  }

  write(from: LedgerNode, units: readonly PlannedUnit[]): readonly LedgerNode[] {
    const draft = new TreeDraft(this.tree);
    const { nodes } = writeUnits(draft, from, { units, model: null });
    this.tree = draft.done();
    return nodes;
  }

  /** Previews a request with these units after a node. */
  preview(request: WireRequest, over: PreviewOptions = {}) {
    const alignment = this.align(request);
    const { units = freshUnits(alignment), droppedTail = null, from = this.root } = over;
    const head = withFields(this.head, request);
    const context = { style: "managed" };
    // A preview reads no more of the context than the style.
    const counted = { wire: request, purpose: "count", context } as unknown as LedgerRequest;
    const plan = { request: counted, nonce: "k7f3", head, alignment, from, units, droppedTail };
    const result = previewPlan(plan);
    return { ...result, body: JSON.parse(Buffer.concat(result.pieces).toString()) };
  }
}

type PreviewOptions = {
  readonly units?: readonly PlannedUnit[];
  readonly droppedTail?: string;
  readonly from?: LedgerNode;
};

const preview = (request: WireRequest, over: PreviewOptions = {}) =>
  new HeadedTree(request).preview(request, over);

describe("a preview", () => {
  test("has the bytes of the next turn and does not change the ledger", () => {
    const messages = [user(text("a")), model(text("b")), user(text("c"))];
    const tree = new HeadedTree(read(...messages));
    const { body, report, leaf } = tree.preview(read(...messages));
    expect(body).toEqual({ model: "claude-opus-4-8", max_tokens: 9, messages });
    expect(report).toEqual({ leaf: "", fresh: [], aliases: [], isTurn: false, epoch: null });
    expect([leaf, childrenOf(tree.tree, tree.root)]).toEqual([tree.root.index, []]);
  });

  test("has the client's marks on its units", () => {
    const messages = [user(text("a"), text("b", mark)), model(text("c")), user(text("d", mark))];
    expect(preview(read(...messages)).body.messages).toEqual(messages);
  });

  test("has them on units that were sent before as well", () => {
    const [first, rest] = [user(text("a"), text("b", mark)), [model(text("c")), user(text("d", mark))]];
    const tree = new HeadedTree(read(first));
    const nodes = tree.write(tree.root, freshUnits(tree.align(read(first))));
    const { body } = tree.preview(read(first, ...rest), { from: must(nodes.at(-1), "it was written") });
    expect(body.messages).toEqual([first, ...rest]);
  });

  test("ends with the dropped tail", () => {
    const { body } = preview(read(user(text("a"))), { droppedTail: "[k7f3 tail]" });
    expect(body.messages).toEqual([user(text("a"), text("[k7f3 tail]"))]);
  });

  test("tells whether it contains a self-clearing message", () => {
    const request = read(user(text("a")));
    expect(preview(request).hasSelfClearing).toBe(false);
    const wrapping = anthropic.write.systemMessage(true);
    const clearing = ownTextUnit(anthropic, "[k7f3 tail]", { wrapping, opensMessage: true });
    const units = [...freshUnits(new HeadedTree(request).align(request)), clearing];
    expect(preview(request, { units }).hasSelfClearing).toBe(true);
  });
});

describe("the node of a unit after a request", () => {
  const positions = (list: Iterable<NodeIndex>, nodes: readonly LedgerNode[]): readonly number[] =>
    [...list].map((index) => nodes.findIndex((node) => node.index === index));

  test("is the one it was written to, our units not counted", () => {
    const request = read(user(text("a")), model(text("b")), user(text("c")));
    const tree = new HeadedTree(request);
    const alignment = tree.align(request);
    const fresh = freshUnits(alignment);
    const wrapping = must(fresh[0], "there is one").wrapping;
    const units = [
      ...fresh.slice(0, 1),
      ownTextUnit(anthropic, "[k7f3 line]", { wrapping, opensMessage: false }),
      ...fresh.slice(1),
    ];
    const nodes = tree.write(tree.root, units);
    expect(positions(nodesAfter(alignment, units, nodes), nodes)).toEqual([0, 2, 3]);
  });

  test("is the old one if the unit was known", () => {
    const request = read(user(text("a")));
    const tree = new HeadedTree(request);
    const nodes = tree.write(tree.root, freshUnits(tree.align(request)));
    const again = tree.align(read(user(text("a")), model(text("b"))));
    const units = freshUnits(again);
    const written = tree.write(must(nodes[0], "it was written"), units);
    expect(positions(nodesAfter(again, units, written), [...nodes, ...written])).toEqual([0, 1]);
  });

  test("is the new one after a rewrite, and the one before if the unit was left out", () => {
    const request = read(user(text("a")), model(text("b")));
    const tree = new HeadedTree(request);
    const [a, b] = freshUnits(tree.align(request));
    const nodes = tree.write(tree.root, [must(a, "first")]);
    const known = tree.align(request);
    const rewriteOf = must(nodes[0], "it was written");
    const rewritten = { ...must(a, "first"), alignedIndex: null, answerNode: null, rewriteOf };
    const written = tree.write(tree.root, [rewritten]);
    // The second unit is not sent.
    expect(b).toBeDefined();
    expect(positions(nodesAfter(known, [rewritten], written), written)).toEqual([0, 0]);
  });
});
