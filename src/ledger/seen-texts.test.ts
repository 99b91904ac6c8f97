import fc from "fast-check";
import { expect, test } from "vitest";
import { SeenTexts, type ShownText } from "./seen-texts.ts";

const page = (n: number): string =>
  Array.from({ length: 20 }, (_, at) => `line ${n * 10 + at}: some words of a file that is read again`).join(
    "\n",
  );
const shown = (block: number, n: number): ShownText => ({ block, text: page(n), runs: [] });

test("lines of an earlier text are found, but not those of a text that refers to others", () => {
  const seen = SeenTexts.empty().add([shown(7, 0)]);
  const [run] = seen.matches(page(1));
  expect(run).toMatchObject({ id: 7, from: 1, to: 10, otherFrom: 11 });
  const runs = seen.matches(page(1));
  const borrowed = seen.add([{ block: 8, text: page(1), runs }]);
  expect(borrowed.matches(page(2)).map(({ id }) => id)).toEqual([]);
  // It stays a borrower even if it is shown again without references.
  expect(borrowed.add([shown(8, 1)]).matches(page(2))).toEqual([]);
});

const step = fc.record({ from: fc.nat(20), block: fc.nat(4), page: fc.nat(5) });

test("a value finds the same lines forever, whatever is added to it or to values it was made from", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const values = [SeenTexts.empty()];
      const found = (seen: SeenTexts) => [0, 1, 2, 3, 4, 5].map((n) => seen.matches(page(n)));
      const then: unknown[] = values.map(found);
      for (const { from, block, page: n } of steps) {
        const next = (values[from % values.length] ?? SeenTexts.empty()).add([shown(block, n)]);
        values.push(next);
        then.push(found(next));
      }
      expect(values.map(found)).toEqual(then);
    }),
  );
});

test("old texts are forgotten", () => {
  let seen = SeenTexts.empty();
  for (let block = 0; block < 300; block += 1)
    seen = seen.add([{ block, text: `${page(block)}\n${"x".repeat(20_000)}`, runs: [] }]);
  expect([seen.matches(page(0)), seen.matches(page(299)).length]).toEqual([[], 1]);
});
