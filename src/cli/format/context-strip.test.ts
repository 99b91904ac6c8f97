import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type StripPiece, stripCells, stripPieces, stripText } from "./context-strip.ts";
import { coloured, plain } from "./paint.ts";

const piece = (of: StripPiece["of"], tokens: number): StripPiece => ({ of, tokens });

describe("the strip", () => {
  test("has a fixed scale, the whole window", () => {
    const pieces = [piece("primacy", 10), piece("middle", 40), piece("recency", 20), piece("other", 10)];
    expect(stripCells(pieces, 100, 20)).toBe("PPMMMMMMMMRRRRoo....");
    expect(stripCells(pieces, 200, 20)).toBe("PMMMMRRo............");
    expect(stripCells([], 100, 5)).toBe(".....");
    expect(stripCells([], 0, 5)).toBe(".....");
  });

  test("is scaled to the real use if estimates add up to more", () => {
    const strip = [
      { zone: "primacy" as const, tokens: 30, blocks: 1, from: 1, to: 1 },
      { zone: "recency" as const, tokens: 90, blocks: 3, from: 2, to: 4 },
    ];
    const window = { used: 60, free: 140, size: 200, exact: true };
    expect(stripCells(stripPieces({ strip, otherTokens: 0, window }), 200, 20)).toBe("PPRRRR..............");
    const more = { ...window, used: 160, free: 40 };
    expect(stripCells(stripPieces({ strip, otherTokens: 40, window: more }), 200, 20)).toBe(
      "PPPRRRRRRRRRoooo....",
    );
  });

  test("keeps the order of the request", () => {
    const pieces = [piece("middle", 30), piece("recency", 20), piece("middle", 50)];
    expect(stripCells(pieces, 100, 10)).toBe("MMMRRMMMMM");
  });

  test("shows at least one cell, and an overfull window as full", () => {
    expect(stripCells([piece("primacy", 1)], 1_000_000, 10)).toBe("P.........");
    expect(stripCells([piece("middle", 300)], 200, 4)).toBe("MMMM");
  });

  test("fills the right number of cells, within one", () => {
    const zones = fc.constantFrom<StripPiece["of"]>("primacy", "middle", "recency", "other");
    const pieces = fc.array(fc.tuple(zones, fc.nat(5_000)), { maxLength: 30 });
    fc.assert(
      fc.property(pieces, (drawn) => {
        const all = drawn.map(([of, tokens]) => piece(of, tokens));
        const used = all.reduce((sum, { tokens }) => sum + tokens, 0);
        const cells = stripCells(all, 200_000, 60);
        expect(cells).toHaveLength(60);
        const filled = cells.replace(/\.+$/, "").length;
        expect(Math.abs(filled - (used / 200_000) * 60)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("has the same text with and without colours", () => {
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    expect(stripText("PPMM..", plain)).toBe("[PPMM..]");
    expect(stripText("PPMM..", coloured).replace(escapes, "")).toBe("[PPMM..]");
  });
});
