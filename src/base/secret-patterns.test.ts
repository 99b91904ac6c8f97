import { expect, test } from "vitest";
import { secretPatterns } from "./secret-patterns.ts";

const found = (text: string): readonly string[] => secretPatterns.flatMap((shape) => text.match(shape) ?? []);

test.each([
  `sk-${"a1".repeat(20)}`,
  `AKIA${"A1".repeat(8)}`,
  `ghp_${"a1".repeat(18)}`,
  `ya29.${"a1".repeat(12)}`,
  `eyJ${"a1".repeat(10)}.${"b2".repeat(10)}.${"c3".repeat(10)}`,
])("a credential is known by its looks: %s", (secret) => {
  expect(found(`key=${secret} and more`)).toEqual([secret]);
});

test("words that only begin like a secret are not matched", () => {
  expect(found("sk-learn, task-force-one, ghp_short, npm_config_cache, eyJust.a.word")).toEqual([]);
});
