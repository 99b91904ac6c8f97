import { expect, test } from "vitest";
import { must } from "../base/index.ts";
import { type AnswerUnit, protocolOf } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { addAnswerNodes } from "./answer-nodes.ts";
import { SessionNumbers, StreamNumbers } from "./block-numbers.ts";
import { nodeBytes, rootNode } from "./node.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

const text = (content: string) => ({ type: "text", text: content });
const call = { type: "tool_use", id: "c1", name: "look", input: {} };

function answerUnits(...content: readonly object[]): readonly AnswerUnit[] {
  const message = { content, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } };
  return readAnswer(Buffer.from(JSON.stringify(message)), "application/json").units;
}

const commandOffer = { hasTools: true, nonce: null } as const;

function emptyLedger() {
  const numbers = new StreamNumbers(new SessionNumbers());
  const leaf = rootNode("");
  const answer = (...content: readonly object[]) =>
    addAnswerNodes(leaf, answerUnits(...content), {
      draft: numbers.draft(1),
      counter: new TokenCounter(null, 1),
      commandOffer,
    });
  return { numbers, leaf, answer };
}

test("an answer is added below its request, one unit below the other, in one message", () => {
  const { leaf, answer } = emptyLedger();
  const nodes = answer(text("a"), call);
  const [first, second] = nodes;
  expect([first?.parent, second?.parent]).toEqual([leaf, first]);
  expect(nodes.map(({ opensMessage, origin, sent }) => ({ opensMessage, origin, sent }))).toEqual([
    { opensMessage: true, origin: "model", sent: null },
    { opensMessage: false, origin: "model", sent: null },
  ]);
  expect(Buffer.from(nodeBytes(must(first, "there is one"))).toString()).toBe(JSON.stringify(text("a")));
});

test("its blocks are numbered, and known when the client repeats them", () => {
  const { numbers, answer } = emptyLedger();
  const nodes = answer(text("a"), call);
  expect(nodes.map(({ numbered }) => [numbered?.block, numbered?.message, numbered?.kind])).toEqual([
    [1, 1, "assistant"],
    [2, 1, "tool-call"],
  ]);
  for (const { facts, numbered } of nodes)
    expect(numbers.find(facts.key, 0)).toMatchObject({ block: numbered?.block });
});

test("the same answer to the same request keeps its node; another answer gets a sibling", () => {
  const { leaf, answer } = emptyLedger();
  const [once] = answer(text("a"));
  const [again] = answer(text("a"));
  const [other] = answer(text("b"));
  expect(again).toBe(once);
  expect([leaf.children.length, other?.numbered?.block]).toEqual([2, 2]);
});

test("only the newest answers that the client does not repeat are kept", () => {
  const { leaf, answer } = emptyLedger();
  for (let n = 0; n < 300; n += 1) answer(text(`answer ${n}`));
  expect(leaf.children.length).toBe(256);
  expect(leaf.children.at(-1)).toBe(answer(text("answer 299"))[0]);
});

test("a call of our tools is hidden only if the model was offered them", () => {
  const numbers = new StreamNumbers(new SessionNumbers());
  const units = answerUnits({ type: "tool_use", id: "a", name: "aperture_read", input: { verb: "diff" } });
  const hidden = [true, false].map((hasTools) => {
    const deps = { draft: numbers.draft(1), counter: new TokenCounter(null, 1) };
    const nodes = addAnswerNodes(rootNode(""), units, { ...deps, commandOffer: { hasTools, nonce: null } });
    return nodes[0]?.facts.isHidden ?? false;
  });
  expect(hidden).toEqual([true, false]);
});
