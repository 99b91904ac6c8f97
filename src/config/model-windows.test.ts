import { expect, it } from "vitest";
import { windowOf } from "./model-windows.ts";

it.each([
  ["claude-sonnet-4-5-20250929", 200_000],
  ["claude-sonnet-4-5[1m]", 1_000_000],
  ["claude-opus-4-6", 200_000],
  ["claude-opus-4-20250514", 200_000],
  ["claude-opus-4-7", 1_000_000],
  ["claude-opus-4-7-20260601", 1_000_000],
  ["claude-opus-5-5", 1_000_000],
  ["claude-haiku-5-5", 200_000],
  ["claude-fable-5-2", 1_000_000],
  ["anthropic.claude-mythos-5-2-v1:0", 1_000_000],
  ["gpt-4o-2024-11-20", 128_000],
  ["some-other-model", 200_000],
  [null, 200_000],
])("the window of %s holds %d tokens", (model, tokens) => {
  expect(windowOf(model)).toBe(tokens);
});
