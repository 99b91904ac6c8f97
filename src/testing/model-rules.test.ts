import { expect, test } from "vitest";
import { listedModels, modelRules } from "./model-rules.ts";

test.each([
  [
    "claude-3-5-sonnet-20241022",
    { family: "sonnet", isBound: false, mayPrefill: true, cacheTokensMin: 1024 },
  ],
  ["claude-sonnet-4-20250514", { version: 4, thinking: ["enabled", "disabled"] }],
  [
    "claude-opus-4-6",
    { mayPrefill: false, cacheTokensMin: 4096, thinking: ["enabled", "adaptive", "disabled"] },
  ],
  [
    "claude-opus-4-7-20260401",
    { thinking: ["adaptive", "disabled"], hasMidSystem: false, cacheTokensMin: 2048 },
  ],
  ["claude-opus-4-8", { hasMidSystem: true, isBound: false, cacheTokensMin: 1024 }],
  ["claude-sonnet-5", { hasMidSystem: true, isBound: false, cacheTokensMin: 1024 }],
  ["claude-opus-5-5[1m]", { isBound: true, mayForceTools: false, thinking: ["adaptive", "between_tools"] }],
  ["claude-haiku-4-5", { cacheTokensMin: 4096, hasMidSystem: false }],
  ["claude-haiku-5-5", { isBound: true, mayForceTools: true, thinking: ["adaptive", "disabled"] }],
  ["claude-fable-5", { isBound: false, mayForceTools: true, thinking: ["adaptive", "between_tools"] }],
  ["claude-mythos-5-1", { isBound: true, cacheTokensMin: 512 }],
])("%s has the rules of its row", (name, expected) => {
  expect(modelRules(name)).toMatchObject(expected);
});

test("an unknown Claude model has the newest rules, a model of another vendor has none", () => {
  expect(modelRules("claude-next")).toMatchObject({ isBound: true, mayForceTools: false, mayPrefill: false });
  expect(modelRules("strict-1")).toMatchObject({ isBound: true });
  expect(modelRules("gpt-6")).toBeNull();
  expect(modelRules("claude-")).toBeNull();
});

test("every listed model has rules of its own", () => {
  for (const name of listedModels) expect(modelRules(name)?.family, name).not.toBe("unknown");
});
