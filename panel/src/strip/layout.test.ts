import { describe, expect, it } from "vitest";
import type { BlockRow } from "../api/contract.ts";
import { blockAt, blocksBetween, chosenSpans, piecesOf, placeBlocks, zonePieces } from "./layout.ts";

const row = (n: number, tokens: number, more: Partial<BlockRow> = {}): BlockRow =>
  ({
    n,
    tokens,
    counted: true,
    zone: "middle",
    shown: "original",
    pending: false,
    origin: "tool",
    ...more,
  }) as BlockRow;

const scale = { size: 1_000, before: 100 };

describe("the layout of the strip", () => {
  it("places blocks in request order on the scale of the window", () => {
    const placed = placeBlocks([row(1, 100), row(2, 50, { counted: false }), row(3, 200)], scale);
    expect(placed.map(({ n, start, end }) => [n, start, end])).toEqual([
      [1, 0.1, 0.2],
      [3, 0.2, 0.4],
    ]);
  });

  it("merges tiny blocks, but not across zones", () => {
    const small = Array.from({ length: 20 }, (_, n) => row(n, 1, { zone: n < 10 ? "primacy" : "middle" }));
    const pieces = piecesOf(placeBlocks(small, scale), 0.01);
    expect(pieces.length).toBeLessThan(6);
    const zoneAt = (n: number) => (n < 10 ? "primacy" : "middle");
    expect(pieces.every(({ from, to, zone }) => zoneAt(from) === zone && zoneAt(to) === zone)).toBe(true);
    expect(pieces.map(({ from }) => from)[0]).toBe(0);
    expect(pieces.at(-1)?.to).toBe(19);
  });

  it("draws whole zones until all blocks are read", () => {
    const rows = [row(1, 100, { zone: "primacy" }), row(2, 50), row(3, 250)];
    const strip = [
      { zone: "primacy", tokens: 100, blocks: 1, from: 1, to: 1 },
      { zone: "middle", tokens: 300, blocks: 2, from: 2, to: 3 },
    ] as const;
    const placed = placeBlocks(rows, scale);
    const pieces = zonePieces(strip, scale);
    expect(pieces.map(({ zone, isRun }) => [zone, isRun])).toEqual([
      ["primacy", false],
      ["middle", true],
    ]);
    expect(pieces.map(({ start, end }) => [start, end])).toEqual([
      [placed[0]?.start, placed[0]?.end],
      [placed[1]?.start, placed[2]?.end],
    ]);
  });

  it("draws no more pieces than fit into the width", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => row(n, 0.18));
    expect(piecesOf(placeBlocks(many, scale), 2 / 1_000).length).toBeLessThanOrEqual(500);
  });

  it("finds the block under the pointer and the blocks of a drag", () => {
    const placed = placeBlocks([row(1, 100), row(2, 100), row(3, 100)], scale);
    expect([0.05, 0.15, 0.25, 0.39, 0.5].map((share) => blockAt(placed, share)?.n ?? null)).toEqual([
      null,
      1,
      2,
      3,
      null,
    ]);
    expect(blocksBetween(placed, 0.31, 0.19).map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(blocksBetween(placed, 0.25, 0.25).map(({ n }) => n)).toEqual([2]);
  });

  it("outlines chosen neighbours together", () => {
    const placed = placeBlocks([row(1, 100), row(2, 100), row(3, 100), row(4, 100)], scale);
    const spans = chosenSpans(placed, new Set([1, 2, 4]));
    expect(spans.map(({ start, end }) => [start.toFixed(1), end.toFixed(1)])).toEqual([
      ["0.1", "0.3"],
      ["0.4", "0.5"],
    ]);
  });
});
