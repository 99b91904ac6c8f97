import { describe, expect, test } from "vitest";
import type { Usage } from "../engine/frames/index.ts";
import type { SentRequest, SentRequestUnit } from "../exchange/index.ts";
import type { AnswerUnit, WireUnit } from "../protocols/index.ts";
import { PromptSizes } from "./prompt-sizes.ts";

const model = "claude-opus-5-5";
const textBytes = (count: number): Uint8Array =>
  Buffer.from(JSON.stringify({ type: "text", text: "some words of it ".repeat(count) }));
const unit = (id: string, parent: string | null, count: number): SentRequestUnit =>
  ({
    id,
    parent,
    origin: "client",
    key: id,
    clientIndex: null,
    numbered: null,
    bytes: textBytes(count),
  }) as SentRequestUnit;
const modelUnit = (id: string, parent: string | null): SentRequestUnit => ({
  ...unit(id, parent, 50),
  origin: "model",
});
const report = (leaf: string, fresh: readonly SentRequestUnit[]): SentRequest =>
  ({ leaf, fresh, isTurn: true }) as unknown as SentRequest;
const answerUnit = (count: number): AnswerUnit => ({
  unit: { kind: "assistant" } as WireUnit,
  bytes: textBytes(count),
});
const usage = (prompt: number, output: number): Usage => ({
  input: 10,
  cacheRead: prompt - 10,
  cacheWrite: 0,
  output,
});

/** A stream that grows by a thousand words a turn; its provider counts `factor` tokens for each of ours. */
function grownStream(turns: number, factor: number): PromptSizes {
  const sizes = new PromptSizes();
  let prompt = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const parent = turn === 1 ? null : `u${turn - 1}`;
    const again = turn === 1 ? [] : [modelUnit(`a${turn}`, parent)];
    const fresh = [...again, unit(`u${turn}`, turn === 1 ? null : `a${turn}`, 250)];
    sizes.noteSent({ exchange: turn, sent: report(`u${turn}`, fresh), model, answerMax: 1_000 });
    prompt += Math.round((turn === 1 ? 1_100 : 1_320) * factor);
    sizes.noteAnswer(turn, [answerUnit(50)], usage(prompt, Math.round(220 * factor)));
  }
  return sizes;
}

describe("the budget of a stream", () => {
  test("is not known before the first answer", () => {
    expect(new PromptSizes().budget(200_000)).toBe(null);
    expect(new PromptSizes().rate()).toBe(1);
  });

  test("continues from the reported usage, and reserves tokens for the answer", () => {
    const budget = grownStream(6, 1.4).budget(200_000);
    const reported = Math.round((1_100 + 5 * 1_320) * 1.4);
    expect(budget?.used).toBeGreaterThan(reported);
    expect(budget?.used).toBeLessThan(reported * 1.1);
    expect(budget?.reserved).toBe(1_000);
    expect((budget?.used ?? 0) + (budget?.reserved ?? 0) + (budget?.free ?? 0)).toBe(200_000);
    expect(budget?.turnsLeft).toBeGreaterThan(50);
  });

  test("learns how the provider counts tokens", () => {
    const [few, many] = [grownStream(8, 1).rate(), grownStream(8, 1.4).rate()];
    expect(many / few).toBeGreaterThan(1.25);
    expect(many / few).toBeLessThan(1.55);
  });

  test("of a fork counts only the shared part", () => {
    const sizes = grownStream(6, 1);
    sizes.noteSent({ exchange: 7, sent: report("f", [unit("f", "u2", 10)]), model, answerMax: 0 });
    sizes.noteAnswer(7, [], usage(2_500, 0));
    const budget = sizes.budget(200_000);
    expect(budget?.used).toBeGreaterThan(2_000);
    expect(budget?.used).toBeLessThan(3_200);
  });

  test("is not changed by a second answer or by an unknown request", () => {
    const sizes = grownStream(3, 1);
    const before = sizes.budget(200_000);
    sizes.noteAnswer(3, [answerUnit(900)], usage(90_000, 1));
    sizes.noteAnswer(99, [answerUnit(900)], usage(90_000, 1));
    expect(sizes.budget(200_000)).toEqual(before);
  });
});
