import { describe, expect, it } from "vitest";
import { BodyBufferPool } from "./body-buffer-pool.ts";

describe("a pool of body buffers", () => {
  it("joins pieces", () => {
    const body = new BodyBufferPool().join([Buffer.from("one "), Buffer.from(""), Buffer.from("two")]);
    expect(body.toString()).toBe("one two");
  });

  it("reuses a buffer once it is released, and not before", () => {
    const pool = new BodyBufferPool();
    const [first, second] = [pool.join([Buffer.from("first")]), pool.join([Buffer.from("second")])];
    expect(first.buffer).not.toBe(second.buffer);
    pool.release(first);
    pool.release(first);
    const [third, fourth] = [pool.join([Buffer.from("third")]), pool.join([Buffer.from("fourth")])];
    expect(third.buffer).toBe(first.buffer);
    expect(fourth.buffer).not.toBe(third.buffer);
    expect([second, third, fourth].map(String)).toEqual(["second", "third", "fourth"]);
  });

  it("keeps a limited number of released bytes, and poisons them if configured", () => {
    const pool = new BodyBufferPool({ freeMax: 9, freeBytesMax: 50_000, isPoisoned: true });
    const bodies = [pool.allocate(20_000), pool.allocate(20_000), pool.allocate(20_000)] as const;
    for (const body of bodies) pool.release(body);
    expect(bodies.map((body) => body.every((byte) => byte === 0xdb))).toEqual([true, true, true]);
    const again = [pool.allocate(20_000), pool.allocate(20_000), pool.allocate(20_000)].map(
      ({ buffer }) => buffer,
    );
    expect(bodies.map(({ buffer }) => again.includes(buffer))).toEqual([false, true, true]);
  });

  it("does not take buffers from outside", () => {
    const pool = new BodyBufferPool();
    const others = Buffer.alloc(20_000, "a");
    pool.release(others);
    expect(pool.join([Buffer.from("mine")]).buffer).not.toBe(others.buffer);
    expect(others.includes("mine")).toBe(false);
  });

  it("does not use a large buffer for a small body", () => {
    const pool = new BodyBufferPool();
    const large = pool.join([Buffer.alloc(1_000_000)]);
    pool.release(large);
    expect(pool.join([Buffer.from("small")]).buffer.byteLength).toBeLessThan(100_000);
    expect(pool.join([Buffer.alloc(900_000)]).buffer).toBe(large.buffer);
  });
});
