import { expect, test } from "vitest";
import { textBlock } from "../../protocols/index.ts";
import { ownItem } from "./draft.ts";
import { userMessage } from "./own-calls.ts";
import { answersMessage, heardFacts, withAnswers } from "./own-texts.ts";

const facts = { key: "k", kind: "assistant", type: "text", callId: null, hash: "h" } as const;
const heard = (text: string, nonce: string | null = "k7f3") => {
  const { isCommanding = false, isHidden = false } = heardFacts(facts, textBlock(text), {
    hasTools: true,
    nonce,
  });
  return { isCommanding, isHidden };
};

test.each([
  ["words", false, false],
  ["words\n@pin(4) k7f3", true, false],
  ["@pin(4) k7f3\nwords", true, false],
  ["\n@pin(4) k7f3\n \n@diff() k7f3\n", true, true],
  ["@pin(4) zzzz", false, false],
  ["```\n@pin(4) k7f3\n```", false, false],
])("a text commands, and is hidden if it does nothing else: %j", (text, isCommanding, isHidden) => {
  expect(heard(text)).toEqual({ isCommanding, isHidden });
});

test("where the model knows of no commands, none are heard", () => {
  expect(heard("@pin(4) k7f3", null)).toEqual({ isCommanding: false, isHidden: false });
});

const item = (text: string, type: string, opens: boolean) => {
  const own = ownItem(text, userMessage, opens);
  return { ...own, origin: "client", facts: { ...own.facts, type } } as const;
};
const told = (items: ReturnType<typeof withAnswers>) =>
  items.map(({ bytes, opens, origin }) => [
    (JSON.parse(Buffer.from(bytes).toString()) as { readonly text: string }).text,
    opens,
    origin,
  ]);

test("answers come before the user's words, and behind results", () => {
  expect(told(withAnswers([item("hello", "text", true)], "done"))).toEqual([
    ["done", true, "aperture"],
    ["hello", false, "client"],
  ]);
  const mixed = [item("result", "tool_result", true), item("hello", "text", false)];
  expect(told(withAnswers(mixed, "done"))).toEqual([
    ["result", true, "client"],
    ["done", false, "aperture"],
    ["hello", false, "client"],
  ]);
  expect(withAnswers(mixed, null)).toBe(mixed);
  expect(withAnswers([], "done")).toEqual([]);
});

test("answers are trusted no more than the results of calls", () => {
  expect(answersMessage("done").facts.kind).toBe("tool-result");
});
