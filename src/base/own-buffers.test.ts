import { expect, it } from "vitest";
import { ownBuffers } from "./own-buffers.ts";

it("only bytes with a buffer to themselves can be handed over, and each buffer once", () => {
  const [own, shared] = [new Uint8Array(4), new Uint8Array(8)];
  const others = [
    shared.subarray(0, 4),
    Buffer.from("from a pool"),
    new Uint8Array(0),
    "text",
    null,
    undefined,
  ];
  expect(ownBuffers([own, ...others, own])).toEqual([own.buffer]);
  expect(ownBuffers([shared])[0]).toBe(shared.buffer);
});
