import fc from "fast-check";
import { expect, test } from "vitest";
import { collect, createCopy, joined } from "./exchange-copy.ts";

test("what was collected comes back joined, in memory of its own", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (parts) => {
      const copy = createCopy(10_000);
      for (const part of parts) collect(copy, Buffer.from(part));
      const bytes = joined(copy);
      expect(bytes).toEqual(new Uint8Array(Buffer.concat(parts)));
      expect(bytes?.buffer.byteLength).toBe(bytes?.length);
      expect(bytes?.constructor).toBe(Uint8Array);
    }),
  );
});

test("one byte too many drops the copy, and the count goes on", () => {
  const copy = createCopy(4);
  collect(copy, Buffer.from("abcd"));
  expect(joined(copy)?.length).toBe(4);
  collect(copy, Buffer.from("e"));
  collect(copy, Buffer.from("f"));
  expect(joined(copy)).toBeNull();
  expect(copy.length).toBe(6);
});
