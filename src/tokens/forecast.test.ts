import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forecastOf } from "./forecast.ts";

const asked = { size: 1_000, reserved: 100, turns: 5 };

describe("a forecast", () => {
  it("goes on as the last turns did", () => {
    expect(forecastOf({ ...asked, fillings: [100, 200, 300] })).toEqual({
      growth: 100,
      next: [400, 500, 600, 700, 800],
      turnsLeft: 6,
    });
  });

  it("does not count a turn in which the window became emptier", () => {
    expect(forecastOf({ ...asked, fillings: [500, 600, 200, 300] })?.growth).toBe(100);
  });

  it("is none before there are two turns", () => {
    expect(forecastOf({ ...asked, fillings: [] })).toBeNull();
    expect(forecastOf({ ...asked, fillings: [500] })).toBeNull();
  });

  it("never ends where nothing grows, and has ended where nothing is free", () => {
    expect(forecastOf({ ...asked, fillings: [300, 300] })?.turnsLeft).toBeNull();
    expect(forecastOf({ ...asked, fillings: [800, 950] })?.turnsLeft).toBe(0);
  });

  it("does not say how many turns are left where they are too many to tell", () => {
    expect(forecastOf({ ...asked, size: 200_000, fillings: [300, 301] })?.turnsLeft).toBeNull();
  });

  it("never leaves the window and never falls", () => {
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
