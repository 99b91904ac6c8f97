import { expect, test } from "vitest";
import { protocolOf } from "../protocols/index.ts";
import { addLineResults, answerFacts, lineResultsMessage } from "./command-lines.ts";
import { ownTextUnit } from "./planned-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const textBlock = anthropic.write.text;

const type = { kind: "assistant", part: "text", wireType: "text" } as const;
const facts = { protocol: anthropic.name, key: "k", ...type, callId: null, hash: "h" } as const;
const commandFacts = (text: string, nonce: string | null = "k7f3") => {
  const { hasCommands = false, isHidden = false } = answerFacts(facts, textBlock(text), {
    hasTools: true,
    nonce,
  });
  return { hasCommands, isHidden };
};

test.each([
  ["words", false, false],
  ["words\n@pin(4) k7f3", true, false],
  ["@pin(4) k7f3\nwords", true, false],
  ["\n@pin(4) k7f3\n \n@diff() k7f3\n", true, true],
  ["@pin(4) zzzz", false, false],
  ["```\n@pin(4) k7f3\n```", false, false],
])("a text with command lines is hidden if it has nothing else: %j", (text, hasCommands, isHidden) => {
  expect(commandFacts(text)).toEqual({ hasCommands, isHidden });
});

test("a text has no commands if the model was offered none", () => {
  expect(commandFacts("@pin(4) k7f3", null)).toEqual({ hasCommands: false, isHidden: false });
});

const clientUnit = (text: string, part: "text" | "result", opensMessage: boolean) => {
  const own = ownTextUnit(anthropic, text, { wrapping: anthropic.write.message("user"), opensMessage });
  return { ...own, origin: "client", facts: { ...own.facts, part } } as const;
};
const summary = (units: ReturnType<typeof addLineResults>) =>
  units.map(({ bytes, opensMessage, origin }) => [
    (JSON.parse(Buffer.from(bytes).toString()) as { readonly text: string }).text,
    opensMessage,
    origin,
  ]);

test("results of command lines precede the user's text and follow tool results", () => {
  expect(summary(addLineResults([clientUnit("hello", "text", true)], "done"))).toEqual([
    ["done", true, "aperture"],
    ["hello", false, "client"],
  ]);
  const mixed = [clientUnit("result", "result", true), clientUnit("hello", "text", false)];
  expect(summary(addLineResults(mixed, "done"))).toEqual([
    ["result", true, "client"],
    ["done", false, "aperture"],
    ["hello", false, "client"],
  ]);
  expect(addLineResults(mixed, null)).toBe(mixed);
  expect(addLineResults([], "done")).toEqual([]);
});

test("results of command lines are trusted no more than tool results", () => {
  expect(lineResultsMessage(anthropic, "done").facts.kind).toBe("tool-result");
});
