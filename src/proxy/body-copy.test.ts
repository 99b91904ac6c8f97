import fc from "fast-check";
import { expect, test } from "vitest";
import { appendToCopy, createBodyCopy, takePieces } from "./body-copy.ts";

const large = [Buffer.alloc(2_000, "a"), Buffer.alloc(3_000, "b")];

test("chunks that have left are handed over as they are, others are copied", () => {
  const copy = createBodyCopy(10_000);
  for (const chunk of large) appendToCopy(copy, chunk);
  expect(takePieces(copy, true)?.[0]).toBe(large[0]);
  const early = takePieces(copy, false);
  expect(Buffer.concat(early ?? [])).toEqual(Buffer.concat(large));
  expect(early?.every((piece, at) => piece.buffer !== large[at]?.buffer)).toBe(true);
});

test("chunks of any size are joined in order", () => {
  const chunk = fc.uint8Array({ maxLength: 3_000, size: "max" });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 40 }), (list) => {
      const copy = createBodyCopy(1_000_000);
      for (const bytes of list) appendToCopy(copy, Buffer.from(bytes));
      expect(Buffer.concat(takePieces(copy, true) ?? [])).toEqual(Buffer.concat(list));
    }),
    { numRuns: 50 },
  );
});

test("many small chunks are gathered into few pieces", () => {
  const copy = createBodyCopy(1_000_000);
  for (let n = 0; n < 100_000; n += 1) appendToCopy(copy, Buffer.from("x"));
  expect(takePieces(copy, true)?.length).toBeLessThan(10);
});

test("a body that is too large is counted but not kept", () => {
  const copy = createBodyCopy(3);
  for (const chunk of large) appendToCopy(copy, chunk);
  expect(copy.length).toBe(5_000);
  expect(takePieces(copy, true)).toBeNull();
  expect(takePieces(createBodyCopy(0), true)).toBeNull();
});
