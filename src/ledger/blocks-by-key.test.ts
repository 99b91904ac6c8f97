import fc from "fast-check";
import { expect, test } from "vitest";
import { BlocksByKey, type KeyedBlock } from "./blocks-by-key.ts";

const keyed = (key: string, block: number): KeyedBlock => ({ key, block, message: 1, turn: 1 });

test("a block is known once for its key, in the order they became known", () => {
  const known = BlocksByKey.empty().with([keyed("a", 8), keyed("a", 8), keyed("b", 8), keyed("a", 9)]);
  const blocks = [0, 1, 2].map((nth) => known.find("a", nth)?.block ?? null);
  expect([blocks, known.has("b"), known.has("c")]).toEqual([[8, 9, null], true, false]);
});

const step = fc.record({ from: fc.nat(9), key: fc.constantFrom("a", "b"), block: fc.nat(5) });

test("no value changes when blocks are added to it or to a value it was made from", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const values = [{ known: BlocksByKey.empty(), model: [] as readonly KeyedBlock[] }];
      for (const { from, key, block } of steps) {
        const source = values[from % values.length] ?? values[0];
        if (source === undefined) continue;
        const isThere = source.model.some((one) => one.key === key && one.block === block);
        const model = isThere ? source.model : [...source.model, keyed(key, block)];
        values.push({ known: source.known.with([keyed(key, block)]), model });
      }
      for (const { known, model } of values) {
        for (const key of ["a", "b"]) {
          const blocks = model.filter((one) => one.key === key).map(({ block }) => block);
          expect([0, 1, 2, 3, 4, 5, 6].map((nth) => known.find(key, nth)?.block)).toEqual([
            ...blocks,
            ...Array.from({ length: 7 - blocks.length }, () => undefined),
          ]);
        }
      }
    }),
  );
});
