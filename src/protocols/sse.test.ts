import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventBytesMax, eventReader, type WireEvent } from "./sse.ts";

function readWhole(bytes: Uint8Array): readonly WireEvent[] {
  return eventReader().push(bytes);
}

function readCut(bytes: Uint8Array, cuts: readonly number[]): readonly WireEvent[] {
  const reader = eventReader();
  const ends = [...new Set(cuts), bytes.length].sort((a, b) => a - b);
  let start = 0;
  return ends.flatMap((end) => {
    const events = reader.push(bytes.subarray(start, end));
    start = end;
    return events;
  });
}

const sample = Buffer.from(
  'event: message_start\r\ndata: {"a":"\u{1f525} über"}\r\n\r\n: a comment\ndata: one\ndata: two\n\nevent:x\rdata:y\r\r',
);

describe("server-sent events", () => {
  it("are read by name and data, with any line end", () => {
    expect(readWhole(sample)).toEqual([
      { event: "message_start", data: '{"a":"\u{1f525} über"}' },
      { event: "", data: "one\ntwo" },
      { event: "x", data: "y" },
    ]);
  });

  it("are the same for bytes cut at any pair of offsets", () => {
    const whole = readWhole(sample);
    for (let a = 0; a <= sample.length; a += 1) {
      for (let b = a; b <= sample.length; b += 1) expect(readCut(sample, [a, b])).toEqual(whole);
    }
  });

  it("are the same one byte at a time, for any text", () => {
    const text = fc.array(fc.constantFrom("data: x", "event: é", "\n", "\r\n", "\r", "\n\n", ":", "🔥"));
    fc.assert(
      fc.property(text, (parts) => {
        const bytes = Buffer.from(parts.join(""));
        const each = bytes.map((_, index) => index);
        expect(readCut(bytes, [...each])).toEqual(readWhole(bytes));
      }),
    );
  });

  it("do not count until the blank line that ends them", () => {
    const reader = eventReader();
    expect(reader.push(Buffer.from("data: half"))).toEqual([]);
    expect(reader.pendingBytes()).toBeGreaterThan(0);
    expect(reader.push(Buffer.from("\n\n"))).toEqual([{ event: "", data: "half" }]);
    expect(reader.pendingBytes()).toBe(0);
  });

  it("are given up when one is too long, without keeping it", () => {
    const reader = eventReader();
    const chunk = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent <= eventBytesMax + chunk.length; sent += chunk.length) reader.push(chunk);
    expect(reader.hasOverflowed()).toBe(true);
    expect(reader.push(Buffer.from("\n\ndata: later\n\n"))).toEqual([]);
  });
});
