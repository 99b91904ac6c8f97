import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forecastOf } from "./forecast.ts";

const input = { size: 1_000, reserved: 100, turns: 5 };

describe("a forecast", () => {
  it("continues the growth of the last turns", () => {
    expect(forecastOf({ ...input, fillings: [100, 200, 300] })).toEqual({
      growth: 100,
      next: [400, 500, 600, 700, 800],
      turnsLeft: 6,
    });
  });

  it("ignores a turn in which the prompt shrank", () => {
    expect(forecastOf({ ...input, fillings: [500, 600, 200, 300] })?.growth).toBe(100);
  });

  it("is null before there are two turns", () => {
    expect(forecastOf({ ...input, fillings: [] })).toBeNull();
    expect(forecastOf({ ...input, fillings: [500] })).toBeNull();
  });

  it("has no turns left to count without growth, and 0 if nothing is free", () => {
    expect(forecastOf({ ...input, fillings: [300, 300] })?.turnsLeft).toBeNull();
    expect(forecastOf({ ...input, fillings: [800, 950] })?.turnsLeft).toBe(0);
  });

  it("does not count turns beyond the limit", () => {
    expect(forecastOf({ ...input, size: 200_000, fillings: [300, 301] })?.turnsLeft).toBeNull();
  });

  it("never exceeds the window and never falls", () => {
    const filling = fc.array(fc.nat(1_000), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(filling, fc.nat(1_000), (fillings, reserved) => {
        const next = forecastOf({ size: 1_000, reserved, turns: 5, fillings })?.next ?? [];
        const rises = next.every((used, at) => used >= (next[at - 1] ?? fillings.at(-1) ?? 0));
        return next.length === 5 && rises && next.every((used) => used <= 1_000);
      }),
    );
  });
});
