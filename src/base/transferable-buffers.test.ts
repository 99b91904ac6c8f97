import { expect, it } from "vitest";
import { transferableBuffers } from "./transferable-buffers.ts";

it("only buffers filled by one byte array are transferable, and each once", () => {
  const [own, shared] = [new Uint8Array(4), new Uint8Array(8)];
  const others = [
    shared.subarray(0, 4),
    Buffer.from("from a pool"),
    new Uint8Array(0),
    "text",
    null,
    undefined,
  ];
  expect(transferableBuffers([own, ...others, own])).toEqual([own.buffer]);
  expect(transferableBuffers([shared])[0]).toBe(shared.buffer);
});
