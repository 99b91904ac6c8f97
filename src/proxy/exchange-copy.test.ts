import { expect, test } from "vitest";
import { collect, createCopy, givenAway } from "./exchange-copy.ts";

const chunks = [Buffer.from("ab"), Buffer.from("cd")];

test("what was collected is given away as it is once it has left, and copied before", () => {
  const copy = createCopy(10);
  for (const chunk of chunks) collect(copy, chunk);
  expect(givenAway(copy, true)).toEqual(chunks);
  expect(givenAway(copy, true)?.[0]).toBe(chunks[0]);
  const early = givenAway(copy, false);
  expect(Buffer.concat(early ?? []).toString()).toBe("abcd");
  expect(early?.every((piece, at) => piece.buffer !== chunks[at]?.buffer)).toBe(true);
});

test("too many bytes are counted, not kept", () => {
  const copy = createCopy(3);
  for (const chunk of chunks) collect(copy, chunk);
  expect(copy.length).toBe(4);
  expect(givenAway(copy, true)).toBeNull();
  expect(givenAway(createCopy(0), true)).toBeNull();
});
