import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetOf } from "./budget.ts";
import { type Calibration, noCalibration, observe } from "./calibrate.ts";

const model = "claude-opus-4-5";

/** The calibration calibrationAfter growing prompts, each reported exactly as estimated. */
function calibrationAfter(prompts: readonly number[]): Calibration {
  return prompts.reduce((calibration, prompt, index) => {
    const kept = prompts[index - 1] ?? 0;
    const usage = { input: prompt, cacheRead: 0, cacheWrite: 0, output: 0 };
    return observe(calibration, { model, prompt, kept: Math.min(kept, prompt), answer: 0, usage });
  }, noCalibration);
}

test("the budget adds new text to the reported prompt, and says how many turns are left", () => {
  const calibration = calibrationAfter([10_000, 20_000, 30_000]);
  const estimate = { model, prompt: 40_000, kept: 30_000, answer: 0 };
  expect(budgetOf(calibration, { estimate, window: 200_000, answerMax: 32_000 })).toEqual({
    window: 200_000,
    used: 40_000,
    reserved: 32_000,
    free: 128_000,
    growth: 10_000,
    turnsLeft: 12,
  });
});

test("a rewrite does not count as growth", () => {
  const calibration = calibrationAfter([100_000, 110_000, 20_000, 30_000]);
  const estimate = { model, prompt: 40_000, kept: 30_000, answer: 0 };
  expect(budgetOf(calibration, { estimate, window: 200_000, answerMax: 0 }).growth).toBe(10_000);
});

test("without growth there are no turns left to count", () => {
  const estimate = { model, prompt: 400, kept: 0, answer: 0 };
  expect(budgetOf(noCalibration, { estimate, window: 1_000, answerMax: 0 }).turnsLeft).toBeNull();
});

test("used, reserved and free add up to the window, whatever the input", () => {
  // Sums of larger numbers are not exact.
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
  const size = fc.oneof(fc.double({ min: -1e12, max: 1e12 }), odd, fc.integer({ min: -5, max: 300_000 }));
  fc.assert(
    fc.property(
      fc.record({ prompt: size, window: size, answerMax: size }),
      ({ prompt, window, answerMax }) => {
        const estimate = { model, prompt, kept: 10_000, answer: 0 };
        const budget = budgetOf(calibrationAfter([10_000, 20_000]), { estimate, window, answerMax });
        expect(budget.used + budget.reserved + budget.free).toBe(budget.window);
        expect(
          Math.min(budget.used, budget.reserved, budget.free, budget.turnsLeft ?? 0),
        ).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
