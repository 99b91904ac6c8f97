import { expect, it } from "vitest";
import { fitOf, fitOfIds, fitWithoutReasoning } from "./fit.ts";

const known = new Set(["user:1", "sign:1", "call:1", "result:1", "assistant:1"]);
const knows = (key: string): boolean => known.has(key);
const sent = ["user:1", "call:1", "result:1"];
const said = ["user:1", "sign:1", "call:1", "result:1"];

it("reasoning that was left out does not part a talk from its session", () => {
  const talk = [...said, "assistant:1", "user:2"];
  const fitting = { talk, last: sent, isAnswered: true, knows };
  expect(fitOf(fitting)).toBe(null);
  expect(fitWithoutReasoning(fitting)).toBe(5);
  expect(fitWithoutReasoning({ ...fitting, last: said })).toBe(5);
});

it("another answer still does", () => {
  const talk = [...said, "assistant:other", "user:2"];
  expect(fitWithoutReasoning({ talk, last: sent, isAnswered: true, knows })).toBe(null);
});

it("another last answer does not where it is enough that earlier ones are repeated", () => {
  const talk = [...said, "assistant:other", "user:2"];
  const fitting = { talk, last: said, isAnswered: true, knows };
  expect(fitOf(fitting)).toBe(null);
  expect(fitOf({ ...fitting, isLoose: true })).toBe(4);
  const first = { talk: ["user:1", "assistant:other"], last: ["user:1"], isAnswered: true, knows };
  expect(fitOf({ ...first, isLoose: true })).toBe(null);
});

it("ids that the model gave tell a talk all of whose answers are written another way", () => {
  const talk = ["user:1", "sign:1", "assistant:joined", "user:2", "call:1", "result:1"];
  expect(fitOf({ talk, last: ["user:1", "assistant:1"], isAnswered: true, knows, isLoose: true })).toBe(null);
  expect(fitOfIds({ talk, knows })).toBe(2);
  expect(fitOfIds({ talk: ["user:1", "assistant:1", "call:2"], knows })).toBe(null);
});
