import { expect, it } from "vitest";
import { fitByModelIds, fitConversation, fitWithoutReasoning } from "./conversation-fit.ts";

const known = new Set(["user:1", "sign:1", "call:1", "result:1", "assistant:1"]);
const knows = (key: string): boolean => known.has(key);
const sent = ["user:1", "call:1", "result:1"];
const withReasoning = ["user:1", "sign:1", "call:1", "result:1"];

it("dropped reasoning does not separate a conversation from its session", () => {
  const messageKeys = [...withReasoning, "assistant:1", "user:2"];
  const input = { messageKeys, last: sent, isAnswered: true, knows };
  expect(fitConversation(input)).toBe(null);
  expect(fitWithoutReasoning(input)).toBe(5);
  expect(fitWithoutReasoning({ ...input, last: withReasoning })).toBe(5);
});

it("another answer separates a conversation from its session", () => {
  const messageKeys = [...withReasoning, "assistant:other", "user:2"];
  expect(fitWithoutReasoning({ messageKeys, last: sent, isAnswered: true, knows })).toBe(null);
});

it("a loose fit accepts another last answer if earlier ones are repeated", () => {
  const messageKeys = [...withReasoning, "assistant:other", "user:2"];
  const input = { messageKeys, last: withReasoning, isAnswered: true, knows };
  expect(fitConversation(input)).toBe(null);
  expect(fitConversation({ ...input, isLoose: true })).toBe(4);
  const first = { messageKeys: ["user:1", "assistant:other"], last: ["user:1"], isAnswered: true, knows };
  expect(fitConversation({ ...first, isLoose: true })).toBe(null);
});

it("model ids identify a conversation whose answers are all written another way", () => {
  const messageKeys = ["user:1", "sign:1", "assistant:joined", "user:2", "call:1", "result:1"];
  expect(
    fitConversation({ messageKeys, last: ["user:1", "assistant:1"], isAnswered: true, knows, isLoose: true }),
  ).toBe(null);
  expect(fitByModelIds({ messageKeys, knows })).toBe(2);
  expect(fitByModelIds({ messageKeys: ["user:1", "assistant:1", "call:2"], knows })).toBe(null);
});
