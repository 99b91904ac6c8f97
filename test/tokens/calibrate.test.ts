import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { predict } from "../../src/tokens/calibrate.ts";
import { type Calibration, type EstimatedPrompt, noCalibration, observe } from "../../src/tokens/index.ts";

const model = "some-model";

/** A provider that counts `rate` tokens per estimated one, and `hidden` ones that no estimate sees. */
type CountingProvider = { readonly rate: number; readonly hidden: number };

/** Sends growing prompts to the provider: each step is the estimate of what the client adds. */
function converse(from: Calibration, steps: readonly number[], provider: CountingProvider) {
  let calibration = from;
  let last: EstimatedPrompt = { model, prompt: 0, kept: 0, answer: 0 };
  const errors: number[] = [];
  for (const step of steps) {
    const answer = last.prompt === 0 ? 0 : 50;
    last = { model, prompt: last.prompt + answer + step, kept: last.prompt, answer };
    const reported = Math.round(provider.hidden + last.prompt * provider.rate);
    errors.push(Math.abs(predict(calibration, last) - reported) / reported);
    calibration = observe(calibration, { ...last, usage: usageOf(reported, 50 * provider.rate) });
  }
  return { calibration, last, errors };
}

function usageOf(prompt: number, output: number) {
  return { input: 3, cacheRead: prompt - 3, cacheWrite: 0, output: Math.round(output) };
}

const manySteps = fc.array(fc.integer({ min: 500, max: 4_000 }), { minLength: 40, maxLength: 60 });
const anyProvider = fc.record({
  rate: fc.double({ min: 0.4, max: 3, noNaN: true }),
  hidden: fc.integer({ min: 0, max: 50_000 }),
});
const wild = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0),
);
const wildUsage = fc.record({ input: wild, cacheRead: wild, cacheWrite: wild, output: wild });
const wildEstimate = fc.record({
  model: fc.constantFrom("a", "b", "__proto__", "constructor"),
  prompt: wild,
  kept: wild,
  answer: wild,
});

describe("a calibration", () => {
  test("converges on any provider", () => {
    fc.assert(
      fc.property(manySteps, anyProvider, (steps, provider) => {
        const { errors } = converse(noCalibration, steps, provider);
        for (const error of errors.slice(30)) expect(error).toBeLessThan(0.01);
      }),
    );
  });

  test("predicts a count, whatever was reported", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(wildEstimate, fc.option(wildUsage)), { maxLength: 30 }),
        wildEstimate,
        (reports, prompt) => {
          const calibration = reports.reduce(
            (before, [estimate, usage]) => observe(before, { ...estimate, usage }),
            noCalibration,
          );
          const tokens = predict(calibration, prompt);
          expect(Number.isFinite(tokens)).toBe(true);
          expect(tokens).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test("can be stored as JSON, and is never changed in place", () => {
    fc.assert(
      fc.property(manySteps, anyProvider, (steps, provider) => {
        const { calibration, last } = converse(noCalibration, steps, provider);
        const text = JSON.stringify(calibration);
        const stored = JSON.parse(text) as Calibration;
        expect(stored).toEqual(calibration);
        expect(predict(stored, last)).toBe(predict(calibration, last));
        observe(calibration, { ...last, usage: usageOf(1, 1) });
        expect(JSON.stringify(calibration)).toBe(text);
      }),
      { numRuns: 30 },
    );
  });

  test("stays small however long the session is", () => {
    const { calibration } = converse(noCalibration, new Array(3_000).fill(300), { rate: 1.2, hidden: 9_000 });
    expect(JSON.stringify(calibration).length).toBeLessThan(8_000);
    const many = Array.from({ length: 100 }, (_, index) => `model-${index}`).reduce(
      (before, name) => observe(before, { model: name, prompt: 9, kept: 0, answer: 0, usage: usageOf(9, 1) }),
      calibration,
    );
    expect(Object.keys(many.rates).length).toBeLessThanOrEqual(16);
  });

  test("recovers from one absurd report", () => {
    const provider = { rate: 1.3, hidden: 20_000 };
    const { calibration, last } = converse(noCalibration, new Array(20).fill(1_000), provider);
    const next = { model, prompt: last.prompt + 1_000, kept: last.prompt, answer: 0 };
    const absurd = observe(calibration, { ...next, usage: usageOf(900_000, 10) });
    const after = { model, prompt: next.prompt + 1_000, kept: next.prompt, answer: 0 };
    const right = observe(absurd, { ...after, usage: usageOf(20_000 + Math.round(after.prompt * 1.3), 10) });
    const final = { model, prompt: after.prompt + 5_000, kept: after.prompt, answer: 0 };
    const reported = 20_000 + final.prompt * 1.3;
    expect(Math.abs(predict(right, final) - reported) / reported).toBeLessThan(0.02);
  });

  test("follows a prompt that shrinks to any earlier length", () => {
    const provider = { rate: 1.3, hidden: 20_000 };
    const { calibration, last } = converse(noCalibration, new Array(60).fill(2_000), provider);
    for (const kept of [0, 2_000, last.prompt / 2, last.prompt - 10]) {
      const cut = { model, prompt: kept + 3_000, kept, answer: 0 };
      const reported = 20_000 + cut.prompt * 1.3;
      expect(Math.abs(predict(calibration, cut) - reported) / reported).toBeLessThan(0.02);
    }
  });

  test.each(["appended", "cut"])("copes with one response without usage: %s", (way) => {
    const provider = { rate: 1.3, hidden: 20_000 };
    const { calibration, last } = converse(noCalibration, new Array(20).fill(1_000), provider);
    const kept = way === "cut" ? 100 : last.prompt;
    const unreported = { model, prompt: kept + 1_000, kept, answer: 0 };
    const next = { model, prompt: unreported.prompt + 1_000, kept: unreported.prompt, answer: 0 };
    const reported = 20_000 + next.prompt * 1.3;
    const tokens = predict(observe(calibration, { ...unreported, usage: null }), next);
    expect(Math.abs(tokens - reported) / reported).toBeLessThan(0.02);
  });

  test("keeps a rate per model", () => {
    const { calibration, last } = converse(noCalibration, new Array(30).fill(2_000), {
      rate: 1.5,
      hidden: 0,
    });
    const other = { ...last, model: "another", kept: last.prompt, prompt: last.prompt + 1_000, answer: 0 };
    const changed = observe(calibration, { ...other, usage: usageOf(other.prompt, 10) });
    expect(Math.abs(predict(calibration, other) / other.prompt - 1)).toBeLessThan(0.05);
    const back = { ...last, kept: other.prompt, prompt: other.prompt + 1_000, answer: 0 };
    expect(Math.abs(predict(changed, back) / (back.prompt * 1.5) - 1)).toBeLessThan(0.05);
  });
});
