import { describe, expect, it } from "vitest";
import type { SessionRow, SessionsPage } from "../queries/answers/index.ts";
import { priceSessions } from "./priced-sessions.ts";

const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 };

type PricedFields = Pick<SessionRow, "usages" | "cached" | "model">;

function pricedOf(priced: PricedFields) {
  const row = { id: "one", ...priced } as unknown as SessionRow; // only the priced fields are read
  const page: SessionsPage = { rows: [row], damaged: [], next: null };
  return priceSessions(page).rows[0];
}

function spendOf(usages: SessionRow["usages"]) {
  return pricedOf({ usages, cached: 0, model: null })?.spend;
}

it("a changed prefix costs a cache write of all that could have been read", () => {
  const anew = (model: string, cached: number) => pricedOf({ usages: [], cached, model })?.anew;
  expect(anew("claude-opus-4-6", 0)?.tokens).toBe(0);
  // Written at 1.25 of the price of input, where it would have been read at 0.1.
  expect(anew("claude-opus-4-6", 100_000)?.tokens).toBeCloseTo(115_000);
  expect(anew("nobody-knows", 100_000)?.usd).toBeNull();
});

describe("the cost of a session", () => {
  it("counts each model at its own price", () => {
    const opus = spendOf([{ model: "claude-opus-4-6", usage }])?.usd ?? 0;
    const haiku = spendOf([{ model: "claude-haiku-4-5", usage }])?.usd ?? 0;
    expect(opus).toBeGreaterThan(haiku);
    const both = spendOf([
      { model: "claude-opus-4-6", usage },
      { model: "claude-haiku-4-5", usage },
    ]);
    expect(both).toEqual({ tokens: 2_000_000, usd: opus + haiku });
  });

  it("has no dollar figure if one price is unknown or nothing was counted", () => {
    expect(spendOf([{ model: "nobody-knows", usage }])).toEqual({ tokens: 1_000_000, usd: null });
    expect(spendOf([])).toEqual({ tokens: 0, usd: null });
  });
});
