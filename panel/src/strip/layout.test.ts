import { describe, expect, it } from "vitest";
import type { BlockRow } from "../api/contract.ts";
import { piecesOf, placeAt, placesBetween, placesOf, spansOf, zonePieces } from "./layout.ts";

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

describe("the strip", () => {
  it("has blocks in order, behind what is no block, on the scale of the window", () => {
    const places = placesOf([row(1, 100), row(2, 50, { counted: false }), row(3, 200)], scale);
    expect(places.map(({ n, start, end }) => [n, start, end])).toEqual([
      [1, 0.1, 0.2],
      [3, 0.2, 0.4],
    ]);
  });

  it("draws together what is too small to be seen, never over the end of a zone", () => {
    const small = Array.from({ length: 20 }, (_, n) => row(n, 1, { zone: n < 10 ? "primacy" : "middle" }));
    const pieces = piecesOf(placesOf(small, scale), 0.01);
    expect(pieces.length).toBeLessThan(6);
    const zoneAt = (n: number) => (n < 10 ? "primacy" : "middle");
    expect(pieces.every(({ from, to, zone }) => zoneAt(from) === zone && zoneAt(to) === zone)).toBe(true);
    expect(pieces.map(({ from }) => from)[0]).toBe(0);
    expect(pieces.at(-1)?.to).toBe(19);
  });

  it("shows zones where their blocks will stand while blocks are still being read", () => {
    const rows = [row(1, 100, { zone: "primacy" }), row(2, 50), row(3, 250)];
    const strip = [
      { zone: "primacy", tokens: 100, blocks: 1, from: 1, to: 1 },
      { zone: "middle", tokens: 300, blocks: 2, from: 2, to: 3 },
    ] as const;
    const places = placesOf(rows, scale);
    const pieces = zonePieces(strip, scale);
    expect(pieces.map(({ zone, isRun }) => [zone, isRun])).toEqual([
      ["primacy", false],
      ["middle", true],
    ]);
    expect(pieces.map(({ start, end }) => [start, end])).toEqual([
      [places[0]?.start, places[0]?.end],
      [places[1]?.start, places[2]?.end],
    ]);
  });

  it("draws no more pieces than there is room for, however many blocks there are", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => row(n, 0.18));
    expect(piecesOf(placesOf(many, scale), 2 / 1_000).length).toBeLessThanOrEqual(500);
  });

  it("finds the block under the pointer, and those a drag has touched", () => {
    const places = placesOf([row(1, 100), row(2, 100), row(3, 100)], scale);
    expect([0.05, 0.15, 0.25, 0.39, 0.5].map((share) => placeAt(places, share)?.n ?? null)).toEqual([
      null,
      1,
      2,
      3,
      null,
    ]);
    expect(placesBetween(places, 0.31, 0.19).map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(placesBetween(places, 0.25, 0.25).map(({ n }) => n)).toEqual([2]);
  });

  it("outlines neighbours that are chosen as one", () => {
    const places = placesOf([row(1, 100), row(2, 100), row(3, 100), row(4, 100)], scale);
    const spans = spansOf(places, new Set([1, 2, 4]));
    expect(spans.map(({ start, end }) => [start.toFixed(1), end.toFixed(1)])).toEqual([
      ["0.1", "0.3"],
      ["0.4", "0.5"],
    ]);
  });
});
