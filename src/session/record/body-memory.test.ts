import { describe, expect, it } from "vitest";
import { BodyMemory } from "./body-memory.ts";

describe("memory for bodies", () => {
  it("puts pieces together", () => {
    const body = new BodyMemory().join([Buffer.from("one "), Buffer.from(""), Buffer.from("two")]);
    expect(body.toString()).toBe("one two");
  });

  it("is used again once it was given back, and not before", () => {
    const memory = new BodyMemory();
    const [first, second] = [memory.join([Buffer.from("first")]), memory.join([Buffer.from("second")])];
    expect(first.buffer).not.toBe(second.buffer);
    memory.giveBack(first);
    memory.giveBack(first);
    const [third, fourth] = [memory.join([Buffer.from("third")]), memory.join([Buffer.from("fourth")])];
    expect(third.buffer).toBe(first.buffer);
    expect(fourth.buffer).not.toBe(third.buffer);
    expect([second, third, fourth].map(String)).toEqual(["second", "third", "fourth"]);
  });

  it("keeps so many bytes of what was given back, and spoils them where it is told to", () => {
    const memory = new BodyMemory({ freeMax: 9, freeBytesMax: 50_000, isSpoiled: true });
    const bodies = [memory.room(20_000), memory.room(20_000), memory.room(20_000)] as const;
    for (const body of bodies) memory.giveBack(body);
    expect(bodies.map((body) => body.every((byte) => byte === 0xdb))).toEqual([true, true, true]);
    const again = [memory.room(20_000), memory.room(20_000), memory.room(20_000)].map(({ buffer }) => buffer);
    expect(bodies.map(({ buffer }) => again.includes(buffer))).toEqual([false, true, true]);
  });

  it("of others is not taken", () => {
    const memory = new BodyMemory();
    const others = Buffer.alloc(20_000, "a");
    memory.giveBack(others);
    expect(memory.join([Buffer.from("mine")]).buffer).not.toBe(others.buffer);
    expect(others.includes("mine")).toBe(false);
  });

  it("of a large body is not held by a small one", () => {
    const memory = new BodyMemory();
    const large = memory.join([Buffer.alloc(1_000_000)]);
    memory.giveBack(large);
    expect(memory.join([Buffer.from("small")]).buffer.byteLength).toBeLessThan(100_000);
    expect(memory.join([Buffer.alloc(900_000)]).buffer).toBe(large.buffer);
  });
});
