import { expect, test } from "vitest";
import { must } from "../base/index.ts";
import { type AnswerUnit, protocolOf } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { addAnswerNodes } from "./answer-nodes.ts";
import { NumberDraft, sessionNumbers, streamNumbers } from "./block-numbers.ts";
import { addRoot, childrenOf, emptyTree, type LedgerTree } from "./ledger-tree.ts";
import { type LedgerNode, nodeBytes } from "./node.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

const text = (content: string) => ({ type: "text", text: content });
const call = { type: "tool_use", id: "c1", name: "look", input: {} };

function answerUnits(...content: readonly object[]): readonly AnswerUnit[] {
  const message = { content, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } };
  return readAnswer(Buffer.from(JSON.stringify(message)), "application/json").units;
}

const commandOffer = { hasTools: true, nonce: null } as const;

/** A tree with one request, which gets answers. */
class AnsweredTree {
  readonly root: LedgerNode;
  tree: LedgerTree;
  numbers = streamNumbers(sessionNumbers());

  constructor() {
    const { tree, root } = addRoot(emptyTree, "");
    [this.tree, this.root] = [tree, root];
  }

  answer(...content: readonly object[]) {
    const draft = new NumberDraft(this.numbers, 1);
    const deps = { draft, counter: new TokenCounter(null, 1), commandOffer };
    const { tree, nodes } = addAnswerNodes(this.tree, this.root, { units: answerUnits(...content), ...deps });
    [this.tree, this.numbers] = [tree, draft.done()];
    return nodes;
  }

  answers() {
    return childrenOf(this.tree, this.root);
  }
}

test("an answer is added below its request, one unit below the other, in one message", () => {
  const tree = new AnsweredTree();
  const nodes = tree.answer(text("a"), call);
  const [first, second] = nodes;
  expect([first?.parent, second?.parent]).toEqual([tree.root.index, first?.index]);
  expect(nodes.map(({ opensMessage, origin, sent }) => ({ opensMessage, origin, sent }))).toEqual([
    { opensMessage: true, origin: "model", sent: null },
    { opensMessage: false, origin: "model", sent: null },
  ]);
  expect(Buffer.from(nodeBytes(must(first, "there is one"))).toString()).toBe(JSON.stringify(text("a")));
});

test("its blocks are numbered, and known when the client repeats them", () => {
  const tree = new AnsweredTree();
  const nodes = tree.answer(text("a"), call);
  expect(nodes.map(({ numbered }) => [numbered?.block, numbered?.message, numbered?.kind])).toEqual([
    [1, 1, "assistant"],
    [2, 1, "tool-call"],
  ]);
  for (const { facts, numbered } of nodes)
    expect(tree.numbers.known.find(facts.key, 0)).toMatchObject({ block: numbered?.block });
});

test("the same answer to the same request keeps its node; another answer gets a sibling", () => {
  const tree = new AnsweredTree();
  const [once] = tree.answer(text("a"));
  const [again] = tree.answer(text("a"));
  const [other] = tree.answer(text("b"));
  expect(again).toBe(once);
  expect([tree.answers().length, other?.numbered?.block]).toEqual([2, 2]);
});

test("only the newest answers that the client does not repeat are kept", () => {
  const tree = new AnsweredTree();
  for (let n = 0; n < 300; n += 1) tree.answer(text(`answer ${n}`), text("more"));
  expect(tree.answers().length).toBe(256);
  expect(tree.answers().at(-1)).toBe(tree.answer(text("answer 299"))[0]);
  // The tree forgets the nodes below a forgotten answer too.
  expect([...tree.tree.nodes.entries()].length).toBe(1 + 2 * 256);
});

test("a call of our tools is hidden only if the model was offered them", () => {
  const units = answerUnits({ type: "tool_use", id: "a", name: "aperture_read", input: { verb: "diff" } });
  const hidden = [true, false].map((hasTools) => {
    const draft = new NumberDraft(streamNumbers(sessionNumbers()), 1);
    const deps = { draft, counter: new TokenCounter(null, 1), commandOffer: { hasTools, nonce: null } };
    const { tree, root } = addRoot(emptyTree, "");
    return addAnswerNodes(tree, root, { units, ...deps }).nodes[0]?.facts.isHidden ?? false;
  });
  expect(hidden).toEqual([true, false]);
});
