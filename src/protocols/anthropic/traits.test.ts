import { expect, test } from "vitest";
import { modelTraits } from "./traits.ts";

test.each([
  ["claude-opus-5-5", true, true],
  ["claude-opus-5-5[1m]", true, true],
  ["claude-opus-5-5-20261001", true, true],
  ["claude-opus-4-8", false, true],
  ["claude-opus-4-8-20260101", false, true],
  ["claude-opus-4-6", false, false],
  ["claude-3-5-sonnet-20241022", false, false],
  ["claude-sonnet-5", false, false],
  ["claude-sonnet-5-5", true, true],
  ["claude-haiku-4-5", false, false],
  ["claude-haiku-5-5", true, true],
  ["claude-fable-5", false, true],
  ["claude-fable-5-2", true, true],
  ["claude-mythos-5.1", true, true],
  ["anthropic/claude-opus-5.5", true, true],
  ["anthropic/claude-opus-5.5:beta", true, true],
  ["claude-opus-5-5@20261001", true, true],
  ["claude-opus-5-10", true, true],
  ["vertex_ai/claude-fable-5-1@x", true, true],
])("%s: bound %s, system messages in between %s", (model, isBound, hasMidSystem) => {
  expect(modelTraits(model)).toMatchObject({ isBound, hasMidSystem });
});

test.each(["claude-next", "claude-saga-7", "", null])(
  "%j has every restriction that some model has",
  (model) => {
    expect(modelTraits(model)).toEqual({ isBound: true, hasMidSystem: false });
  },
);
