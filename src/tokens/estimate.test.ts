import { expect, test } from "vitest";
import { estimateTokens } from "./estimate.ts";

test("newer models have shorter tokens, and an estimate is marked as not exact", () => {
  const estimateFor = (model: string | null) => estimateTokens(8_400, model);
  expect(estimateFor("claude-opus-4-5").count).toBe(3_000);
  expect(estimateFor("claude-opus-4-8").count).toBe(4_000);
  expect(estimateFor("gpt-5.6").count).toBe(2_546);
  expect(estimateFor(null)).toEqual({ count: 2_800, exact: false });
});
