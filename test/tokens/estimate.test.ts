import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimatePart, estimateText, loadO200k } from "../../src/tokens/index.ts";
import { type RecordedBlock, readRecording, recordingNames } from "../support/recordings.ts";
import { anyText, filled, longRuns, models } from "./texts.ts";

const anyModel = fc.constantFrom(...models);

describe("an estimate", () => {
  test("is a count, whatever the text", () => {
    fc.assert(
      fc.property(anyText, anyModel, (text, model) => {
        const tokens = estimateText(text, model);
        expect(Number.isSafeInteger(tokens)).toBe(true);
        expect(tokens).toBeGreaterThanOrEqual(0);
        // No tokenizer makes more than a few tokens from one character.
        expect(tokens).toBeLessThanOrEqual(text.length * 3 + 1);
      }),
    );
  });

  test("hardly shrinks when text is added, and nearly equals the sum of its halves", () => {
    // A run of at most 64 characters may be classified differently once it is complete.
    const tolerance = 90;
    fc.assert(
      fc.property(anyText, anyText, anyModel, (one, other, model) => {
        const [first, second, both] = [one, other, one + other].map((text) => estimateText(text, model));
        expect(both).toBeGreaterThanOrEqual(Math.max(first ?? 0, second ?? 0) - tolerance);
        expect(Math.abs((both ?? 0) - (first ?? 0) - (second ?? 0))).toBeLessThanOrEqual(tolerance);
      }),
    );
  });

  test.each(longRuns)("grows with the length of a long text: %s", (_, unit) => {
    const [small, large] = [filled(unit, 200_000), filled(unit, 2_000_000)].map((text) =>
      estimateText(text, "claude-opus-4-5"),
    );
    expect((large ?? 0) / (small ?? 1)).toBeCloseTo(10, 0);
  });

  test("is close to the exact count of recorded texts", async () => {
    const exact = await loadO200k();
    const texts = recordingNames().flatMap(textsOf).slice(0, 1_500);
    const counts = texts.map((text) => ({ exact: exact(text), estimate: estimateText(text, "gpt-5.4") }));
    const errors = counts.map(({ exact, estimate }) => Math.abs(estimate / exact - 1)).sort((a, b) => a - b);
    const total = sum(counts.map(({ estimate }) => estimate)) / sum(counts.map(({ exact }) => exact)) - 1;
    const median = errors[Math.floor(errors.length / 2)] ?? 1;
    console.log(
      `${texts.length} texts: total ${(total * 100).toFixed(1)}%, median ${(median * 100).toFixed(1)}%`,
    );
    expect(Math.abs(total)).toBeLessThan(0.05);
    expect(median).toBeLessThan(0.08);
  });

  test("of hidden reasoning follows its signature", () => {
    const reasoning = { kind: "reasoning", text: "", signatureLength: 4_000 } as const;
    expect(estimatePart(reasoning, "claude-opus-4-8")).toBe(1_040);
    expect(estimatePart(reasoning, "gpt-5.4")).toBe(0);
  });
});

/** Texts of clients and tools, cut to pieces that are quick to count. */
function textsOf(name: string): readonly string[] {
  const blocks = readRecording(name).turns.flatMap(({ c }) =>
    c.flatMap(({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content)),
  ) as readonly RecordedBlock[];
  const texts = blocks.flatMap((block) => [block["text"], block["content"]]);
  return texts
    .filter((text): text is string => typeof text === "string" && text.length > 400)
    .map((text) => text.slice(0, 4_000))
    .slice(0, 100);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
