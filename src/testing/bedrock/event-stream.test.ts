import { crc32 } from "node:zlib";
import { expect, it } from "vitest";
import { eventFrame, exceptionFrame, jsonFrame } from "./event-stream.ts";

it("a frame has two lengths and two checksums", () => {
  const frame = eventFrame({ ":a": "bc" }, Buffer.from("payload"));
  expect(frame.length).toBe(12 + (1 + 2 + 1 + 2 + 2) + 7 + 4);
  expect(frame.readUInt32BE(0)).toBe(frame.length);
  expect(frame.readUInt32BE(4)).toBe(8);
  expect(frame.readUInt32BE(8)).toBe(crc32(frame.subarray(0, 8)));
  expect(frame.subarray(12, 20)).toEqual(Buffer.from("\x02:a\x07\x00\x02bc", "latin1"));
  expect(frame.subarray(20, 27).toString()).toBe("payload");
  expect(frame.readUInt32BE(27)).toBe(crc32(frame.subarray(0, 27)));
});

it("an empty frame equals the empty message in the documentation", () => {
  expect(eventFrame({}, Buffer.alloc(0)).toString("hex")).toBe("000000100000000005c248eb7d98c8ff");
});

it("a header distinguishes events from exceptions", () => {
  expect(jsonFrame("chunk", {}).toString("latin1")).toContain(":message-type\x07\x00\x05event");
  expect(exceptionFrame("throttlingException", "slow").toString("latin1")).toContain(
    ":message-type\x07\x00\x09exception",
  );
});
