import { expect, test } from "vitest";
import { listedModels, modelRules } from "./models.ts";

test.each([
  ["claude-3-5-sonnet-20241022", { family: "sonnet", bound: false, prefill: true, cacheTokensMin: 1024 }],
  ["claude-sonnet-4-20250514", { version: 4, thinking: ["enabled", "disabled"] }],
  [
    "claude-opus-4-6",
    { prefill: false, cacheTokensMin: 4096, thinking: ["enabled", "adaptive", "disabled"] },
  ],
  [
    "claude-opus-4-7-20260401",
    { thinking: ["adaptive", "disabled"], midSystem: false, cacheTokensMin: 2048 },
  ],
  ["claude-opus-4-8", { midSystem: true, bound: false, cacheTokensMin: 1024 }],
  ["claude-sonnet-5", { midSystem: true, bound: false, cacheTokensMin: 1024 }],
  ["claude-opus-5-5[1m]", { bound: true, forcedTools: false, thinking: ["adaptive", "between_tools"] }],
  ["claude-haiku-4-5", { cacheTokensMin: 4096, midSystem: false }],
  ["claude-haiku-5-5", { bound: true, forcedTools: true, thinking: ["adaptive", "disabled"] }],
  ["claude-fable-5", { bound: false, forcedTools: true, thinking: ["adaptive", "between_tools"] }],
  ["claude-mythos-5-1", { bound: true, cacheTokensMin: 512 }],
])("%s has the rules of its row", (name, expected) => {
  expect(modelRules(name)).toMatchObject(expected);
});

test("a name of ours that nobody knows has the newest rules, a foreign name has none", () => {
  expect(modelRules("claude-next")).toMatchObject({ bound: true, forcedTools: false, prefill: false });
  expect(modelRules("strict-1")).toMatchObject({ bound: true });
  expect(modelRules("gpt-6")).toBeNull();
  expect(modelRules("claude-")).toBeNull();
});

test("every listed model has rules of its own", () => {
  for (const name of listedModels) expect(modelRules(name)?.family, name).not.toBe("unknown");
});
