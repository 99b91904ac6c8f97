import { describe, expect, test } from "vitest";
import type { Usage } from "../../engine/index.ts";
import type { AnswerUnit, WireUnit } from "../../protocols/index.ts";
import type { SentReport, SentUnit } from "../exchange.ts";
import { PromptSizes } from "./prompt-sizes.ts";

const model = "claude-opus-5-5";
const words = (count: number): Uint8Array =>
  Buffer.from(JSON.stringify({ type: "text", text: "some words of it ".repeat(count) }));
const unit = (id: string, parent: string | null, count: number): SentUnit =>
  ({ id, parent, origin: "client", key: id, unit: null, numbered: null, bytes: words(count) }) as SentUnit;
const said50 = (id: string, parent: string | null): SentUnit => ({
  ...unit(id, parent, 50),
  origin: "model",
});
const report = (leaf: string, fresh: readonly SentUnit[]): SentReport =>
  ({ leaf, fresh, isTurn: true }) as unknown as SentReport;
const said = (count: number): AnswerUnit => ({
  unit: { kind: "assistant" } as WireUnit,
  bytes: words(count),
});
const usage = (prompt: number, output: number): Usage => ({
  input: 10,
  cacheRead: prompt - 10,
  cacheWrite: 0,
  output,
});

/** A stream that grows by a thousand words a turn, of a provider that counts `factor` for each of ours. */
function grown(turns: number, factor: number): PromptSizes {
  const sizes = new PromptSizes();
  let prompt = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const parent = turn === 1 ? null : `u${turn - 1}`;
    const again = turn === 1 ? [] : [said50(`a${turn}`, parent)];
    const fresh = [...again, unit(`u${turn}`, turn === 1 ? null : `a${turn}`, 250)];
    sizes.sent({ exchange: turn, sent: report(`u${turn}`, fresh), model, answerMax: 1_000 });
    prompt += Math.round((turn === 1 ? 1_100 : 1_320) * factor);
    sizes.answered(turn, [said(50)], usage(prompt, Math.round(220 * factor)));
  }
  return sizes;
}

describe("the budget of a stream", () => {
  test("is not known before the first answer", () => {
    expect(new PromptSizes().budget(200_000)).toBe(null);
    expect(new PromptSizes().rate()).toBe(1);
  });

  test("goes on from what was reported, and reserves what the client asks for", () => {
    const budget = grown(6, 1.4).budget(200_000);
    const reported = Math.round((1_100 + 5 * 1_320) * 1.4);
    expect(budget?.used).toBeGreaterThan(reported);
    expect(budget?.used).toBeLessThan(reported * 1.1);
    expect(budget?.reserved).toBe(1_000);
    expect((budget?.used ?? 0) + (budget?.reserved ?? 0) + (budget?.free ?? 0)).toBe(200_000);
    expect(budget?.turnsLeft).toBeGreaterThan(50);
  });

  test("learns what the provider counts for each token", () => {
    const [few, many] = [grown(8, 1).rate(), grown(8, 1.4).rate()];
    expect(many / few).toBeGreaterThan(1.25);
    expect(many / few).toBeLessThan(1.55);
  });

  test("of a fork counts what is shared, and no more", () => {
    const sizes = grown(6, 1);
    sizes.sent({ exchange: 7, sent: report("f", [unit("f", "u2", 10)]), model, answerMax: 0 });
    sizes.answered(7, [], usage(2_500, 0));
    const budget = sizes.budget(200_000);
    expect(budget?.used).toBeGreaterThan(2_000);
    expect(budget?.used).toBeLessThan(3_200);
  });

  test("of a request that is answered twice, or that nobody told of, is left as it was", () => {
    const sizes = grown(3, 1);
    const before = sizes.budget(200_000);
    sizes.answered(3, [said(900)], usage(90_000, 1));
    sizes.answered(99, [said(900)], usage(90_000, 1));
    expect(sizes.budget(200_000)).toEqual(before);
  });
});
