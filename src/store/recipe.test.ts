import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits, must, unwrap } from "../base/index.ts";
import {
  type BodyRef,
  decodeRecipe,
  encodeRecipe,
  mergePieces,
  pieceLength,
  type StoredPiece,
} from "./recipe.ts";
import { expandRecipe, indexRecipe, slicePieces, stepsAtMost } from "./recipe-expand.ts";
import { exchangeSides } from "./store.ts";

const offset = fc.nat({ max: 2 ** 33 });
const length = fc.integer({ min: 1, max: 2 ** 26 });
const piece: fc.Arbitrary<StoredPiece> = fc.oneof(
  fc.record({ from: fc.constant("content" as const), content: fc.nat(), start: offset, length }),
  fc.record({
    from: fc.constant("body" as const),
    exchange: fc.nat({ max: 3 }),
    side: fc.constantFrom(...exchangeSides),
    start: offset,
    length,
  }),
  fc.record({ from: fc.constant("literal" as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
);

describe("a recipe", () => {
  it("survives encoding unchanged", () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(decodeRecipe(encodeRecipe(pieces))).toEqual({ ok: true, value: pieces });
      }),
    );
  });

  it("made of random bytes is refused, never read past its end", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const decoded = decodeRecipe(bytes);
        if (!decoded.ok) expect(decoded.error.code).toBe("AP_RECIPE_INVALID");
      }),
    );
    expect(decodeRecipe(Uint8Array.of(0x80)).ok).toBe(false);
    expect(decodeRecipe(Uint8Array.of(40, 1)).ok).toBe(false);
    expect(decodeRecipe(Uint8Array.of(7, 1, 9, 0)).ok).toBe(false);
  });

  it("takes a few bytes for copies that follow each other", () => {
    const copies: StoredPiece[] = [0, 1, 2, 3].map((n) => ({
      from: "body",
      exchange: 900,
      side: "upstream-request",
      start: n * 100_100,
      length: 100_000,
    }));
    expect(encodeRecipe(copies).length).toBeLessThan(24);
  });

  it("joins neighbours that continue each other and drops empty pieces", () => {
    const bytes = (text: string): Uint8Array => Buffer.from(text);
    expect(
      mergePieces<number>([
        { from: "literal", bytes: bytes("a") },
        { from: "content", content: 4, start: 0, length: 0 },
        { from: "literal", bytes: bytes("bc") },
        { from: "content", content: 1, start: 0, length: 5 },
        { from: "content", content: 1, start: 5, length: 2 },
        { from: "content", content: 2, start: 7, length: 2 },
        { from: "body", exchange: 1, side: "client-request", start: 0, length: 9 },
        { from: "body", exchange: 1, side: "client-request", start: 9, length: 1 },
        { from: "body", exchange: 1, side: "client-response", start: 10, length: 1 },
      ]),
    ).toEqual([
      { from: "literal", bytes: Buffer.from("abc") },
      { from: "content", content: 1, start: 0, length: 7 },
      { from: "content", content: 2, start: 7, length: 2 },
      { from: "body", exchange: 1, side: "client-request", start: 0, length: 10 },
      { from: "body", exchange: 1, side: "client-response", start: 10, length: 1 },
    ]);
  });

  it("gives the pieces of any range, cut to fit", () => {
    const pieces: StoredPiece[] = [
      { from: "literal", bytes: Buffer.from("0123") },
      { from: "content", content: 1, start: 10, length: 6 },
      { from: "body", exchange: 2, side: "client-request", start: 5, length: 10 },
    ];
    const total = 20;
    const range = fc.tuple(fc.nat({ max: total }), fc.nat({ max: total }));
    fc.assert(
      fc.property(range, ([a, b]) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        const cut = slicePieces(indexRecipe(pieces), { start, length: end - start });
        expect(cut.reduce((sum, part) => sum + pieceLength(part), 0)).toBe(end - start);
      }),
    );
    expect(slicePieces(indexRecipe(pieces), { start: 2, length: 4 })).toEqual([
      { from: "literal", bytes: Buffer.from("23") },
      { from: "content", content: 1, start: 10, length: 2 },
    ]);
  });

  it("follows copies of copies down to contents and literals", () => {
    const first = indexRecipe<number>([
      { from: "literal", bytes: Buffer.from("abc") },
      { from: "content", content: 7, start: 0, length: 100 },
    ]);
    const second = indexRecipe<number>([
      { from: "body", exchange: 1, side: "client-request", start: 1, length: 12 },
      { from: "literal", bytes: Buffer.from("!") },
    ]);
    const third: StoredPiece[] = [
      { from: "body", exchange: 2, side: "client-request", start: 1, length: 12 },
    ];
    const expanded = unwrap(expandRecipe(third, ({ exchange }) => (exchange === 1 ? first : second)));
    expect(expanded.steps).toBe(5);
    expect(expanded.leaves).toEqual([
      { from: "literal", bytes: Buffer.from("c") },
      { from: "content", content: 7, start: 0, length: 10 },
      { from: "literal", bytes: Buffer.from("!") },
    ]);
  });

  it("takes no more steps than the bound computed before", () => {
    const side = "client-request";
    const cut = fc.tuple(fc.nat(20), fc.nat(60), fc.nat(60));
    fc.assert(
      fc.property(fc.array(fc.array(cut, { minLength: 1, maxLength: 4 }), { maxLength: 12 }), (plans) => {
        const first: readonly StoredPiece[] = Array.from({ length: 20 }, (_, content) => ({
          from: "content",
          content,
          start: 0,
          length: 3,
        }));
        const bodies = [{ recipe: indexRecipe(first), length: 60, leaves: 20, depth: 0 }];
        for (const plan of plans) {
          const pieces = plan.flatMap(([back, a, b]): StoredPiece[] => {
            const exchange = Math.max(0, bodies.length - 1 - (back % 3));
            const { length } = must(bodies[exchange], "there is one");
            const [start, end] = [Math.min(a, b) % (length + 1), Math.max(a, b) % (length + 1)];
            return end > start ? [{ from: "body", exchange, side, start, length: end - start }] : [];
          });
          const effortOf = ({ exchange }: BodyRef) => must(bodies[exchange], "it was made before");
          const leaves = stepsAtMost(pieces, effortOf);
          const { steps } = unwrap(expandRecipe(pieces, (ref) => effortOf(ref).recipe));
          expect(steps).toBeLessThanOrEqual(leaves);
          const depth = Math.max(
            0,
            ...pieces.map((piece) => (piece.from === "body" ? 1 + effortOf(piece).depth : 0)),
          );
          const length = pieces.reduce((sum, piece) => sum + pieceLength(piece), 0);
          bodies.push({ recipe: indexRecipe(pieces), length, leaves, depth });
        }
      }),
    );
  });

  it("of a body that grows turn by turn keeps a small bound", () => {
    const side = "client-request";
    let effort = { leaves: 3, depth: 0 };
    for (let exchange = 1; exchange <= 200; exchange += 1) {
      const copy = { from: "body", exchange, side } as const;
      const pieces: StoredPiece[] = [
        { ...copy, start: 0, length: 1_000 * exchange },
        { from: "literal", bytes: Buffer.from("new") },
        { ...copy, start: 1_000 * exchange + 10, length: 50 },
      ];
      const before = effort;
      effort = { leaves: stepsAtMost(pieces, () => before), depth: before.depth + 1 };
    }
    expect(effort.leaves).toBeLessThan(limits.recipeLeavesMax / 10);
  });

  it("that is circular is refused", () => {
    const circle: StoredPiece = { from: "body", exchange: 1, side: "client-request", start: 0, length: 4 };
    const expanded = expandRecipe([circle], () => indexRecipe<number>([circle]));
    expect(expanded).toMatchObject({ ok: false, error: { code: "AP_RECIPE_INVALID" } });
  });
});
