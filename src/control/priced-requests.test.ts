import { describe, expect, it } from "vitest";
import type { RequestRow, RewriteRow } from "../queries/answers/index.ts";
import { priceRequest } from "./priced-requests.ts";

const rewrite: RewriteRow = {
  epoch: 1,
  reason: "price",
  why: "it pays for itself",
  means: "own",
  blocks: [4, 9],
  freed: 2_000,
  predicted: { rewritten: 1_250, unchanged: 300, savedEach: 200 },
};
const usage = { input: 100, cacheRead: 0, cacheWrite: 1_000, output: 50 };
const row = { model: "claude-sonnet-4-5", usage, rewrite } as unknown as RequestRow;

describe("the bill of a rewrite", () => {
  it("has the expected and the measured cost of the prompt, without output", () => {
    const { rewrite: priced } = priceRequest(row);
    expect(priced?.measured?.tokens).toBeCloseTo(1_350, 6);
    expect(priced?.error).toBeCloseTo(0.08, 6);
    expect(priced?.predicted?.rewritten.tokens).toBe(1_250);
    const usd = priced?.predicted?.rewritten.usd ?? 0;
    expect((priced?.measured?.usd ?? 0) / usd).toBeCloseTo(1.08, 6);
  });

  it("is null where a figure is not known", () => {
    expect(priceRequest({ ...row, usage: null }).rewrite).toMatchObject({ measured: null, error: null });
    const silent = { ...row, rewrite: { ...rewrite, predicted: null } };
    expect(priceRequest(silent).rewrite).toMatchObject({ predicted: null, error: null });
    expect(priceRequest({ ...row, model: "some-model" }).rewrite?.measured?.usd).toBeNull();
    expect(priceRequest({ ...row, rewrite: null }).rewrite).toBeNull();
  });
});
