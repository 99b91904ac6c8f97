import fc from "fast-check";
import { expect, test } from "vitest";
import { collect, createCopy, givenAway } from "./exchange-copy.ts";

const large = [Buffer.alloc(2_000, "a"), Buffer.alloc(3_000, "b")];

test("what was collected is given away as it is once it has left, and copied before", () => {
  const copy = createCopy(10_000);
  for (const chunk of large) collect(copy, chunk);
  expect(givenAway(copy, true)?.[0]).toBe(large[0]);
  const early = givenAway(copy, false);
  expect(Buffer.concat(early ?? [])).toEqual(Buffer.concat(large));
  expect(early?.every((piece, at) => piece.buffer !== large[at]?.buffer)).toBe(true);
});

test("chunks of any size come back in their order", () => {
  const chunk = fc.uint8Array({ maxLength: 3_000, size: "max" });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 40 }), (list) => {
      const copy = createCopy(1_000_000);
      for (const bytes of list) collect(copy, Buffer.from(bytes));
      expect(Buffer.concat(givenAway(copy, true) ?? [])).toEqual(Buffer.concat(list));
    }),
    { numRuns: 50 },
  );
});

test("many small chunks are few pieces", () => {
  const copy = createCopy(1_000_000);
  for (let n = 0; n < 100_000; n += 1) collect(copy, Buffer.from("x"));
  expect(givenAway(copy, true)?.length).toBeLessThan(10);
});

test("too many bytes are counted, not kept", () => {
  const copy = createCopy(3);
  for (const chunk of large) collect(copy, chunk);
  expect(copy.length).toBe(5_000);
  expect(givenAway(copy, true)).toBeNull();
  expect(givenAway(createCopy(0), true)).toBeNull();
});
