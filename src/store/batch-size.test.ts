import { describe, expect, it } from "vitest";
import { batchSize } from "./batch-size.ts";
import type { Batch } from "./store.ts";

function withDeltas(deltas: readonly unknown[]): Batch {
  return { frames: [{ deltas }] } as unknown as Batch;
}

describe("the size of a batch", () => {
  it("is never nothing", () => {
    expect(batchSize({})).toEqual({ frames: 0, bytes: 64 });
  });

  it("is at least the size of the texts and lists in its frames", () => {
    const topics = Array.from({ length: 16 }, () => "t".repeat(120));
    expect(batchSize(withDeltas([{ type: "topics-set", to: topics }])).bytes).toBeGreaterThan(16 * 120);
    const shows = Array.from({ length: 10_000 }, (_, block) => ({ block, as: "full" }));
    expect(batchSize(withDeltas([{ type: "unit-sent", unit: { shows } }])).bytes).toBeGreaterThan(200_000);
  });

  it("of a circular value is computed too", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(batchSize(withDeltas(circle)).bytes).toBeLessThan(1_000);
  });
});
