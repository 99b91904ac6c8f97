import { expect, it } from "vitest";
import { sessionRules } from "./session-rules.ts";

const row = (step: number, said: string | null, done = true) => ({ step, said, done });

it("the rule of a session is the last step about a verb that is not undone", () => {
  const steps = [
    row(1, "allowed archive by model in this session"),
    row(2, "allowed pin by model in this turn"),
    row(3, 'named the session "allowed pin by model in this session"'),
    row(4, "denied archive by model in this session"),
    row(5, "allowed focus by model in this session", false),
    row(6, null),
  ];
  expect(sessionRules(steps).map(({ step }) => step)).toEqual([4]);
});
