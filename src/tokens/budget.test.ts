import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetOf } from "./budget.ts";
import { type Calibration, noCalibration, observe } from "./calibrate.ts";

const model = "claude-opus-4-5";

/** Each step is a prompt and what was reported for it; nothing but growth. */
function after(prompts: readonly number[]): Calibration {
  return prompts.reduce((calibration, prompt, index) => {
    const kept = prompts[index - 1] ?? 0;
    const usage = { input: prompt, cacheRead: 0, cacheWrite: 0, output: 0 };
    return observe(calibration, { model, prompt, kept: Math.min(kept, prompt), answer: 0, usage });
  }, noCalibration);
}

test("what is used is what was reported and what is new; the rest lasts so many turns", () => {
  const calibration = after([10_000, 20_000, 30_000]);
  const asked = { model, prompt: 40_000, kept: 30_000, answer: 0 };
  expect(budgetOf(calibration, { asked, window: 200_000, answerMax: 32_000 })).toEqual({
    window: 200_000,
    used: 40_000,
    reserved: 32_000,
    free: 128_000,
    growth: 10_000,
    turnsLeft: 12,
  });
});

test("a rewrite says nothing about growth", () => {
  const calibration = after([100_000, 110_000, 20_000, 30_000]);
  const asked = { model, prompt: 40_000, kept: 30_000, answer: 0 };
  expect(budgetOf(calibration, { asked, window: 200_000, answerMax: 0 }).growth).toBe(10_000);
});

test("without growth there is no end to see", () => {
  const asked = { model, prompt: 400, kept: 0, answer: 0 };
  expect(budgetOf(noCalibration, { asked, window: 1_000, answerMax: 0 }).turnsLeft).toBeNull();
});

test("the parts make the window, whatever is asked", () => {
  // Beyond what a number holds exactly, no sum is exact either.
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
  const size = fc.oneof(fc.double({ min: -1e12, max: 1e12 }), odd, fc.integer({ min: -5, max: 300_000 }));
  fc.assert(
    fc.property(
      fc.record({ prompt: size, window: size, answerMax: size }),
      ({ prompt, window, answerMax }) => {
        const asked = { model, prompt, kept: 10_000, answer: 0 };
        const budget = budgetOf(after([10_000, 20_000]), { asked, window, answerMax });
        expect(budget.used + budget.reserved + budget.free).toBe(budget.window);
        expect(
          Math.min(budget.used, budget.reserved, budget.free, budget.turnsLeft ?? 0),
        ).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
