import { expect, test } from "vitest";
import { AppendBuffer } from "./append-buffer.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

test("appending never moves or changes earlier bytes", () => {
  const buffer = new AppendBuffer();
  buffer.append(bytes("first"));
  const view = buffer.slice(0, 5);
  for (let n = 0; n < 50; n += 1) buffer.append(Buffer.alloc(1000, n));
  expect(buffer.length).toBe(50_005);
  expect(view.toString()).toBe("first");
  expect(buffer.slice(0, 5).toString()).toBe("first");
  expect(buffer.slice(5 + 49_000, 5 + 49_001)[0]).toBe(49);
});

test("capacity grows in steps, so that appending rarely copies", () => {
  const buffer = new AppendBuffer();
  const capacities = new Set<number>();
  for (let n = 0; n < 1000; n += 1) {
    buffer.append(Buffer.alloc(100));
    capacities.add(buffer.capacity);
  }
  expect(capacities.size).toBeLessThan(12);
  expect(buffer.capacity).toBeGreaterThanOrEqual(buffer.length);
});

test("reserved room is enough", () => {
  const buffer = new AppendBuffer();
  buffer.reserve(100_000);
  const { capacity } = buffer;
  for (let n = 0; n < 100; n += 1) buffer.append(Buffer.alloc(1000));
  expect([buffer.capacity, buffer.length]).toEqual([capacity, 100_000]);
});

test("a fork continues with other bytes and does not change its source", () => {
  const buffer = new AppendBuffer();
  buffer.append(bytes("one two"));
  const fork = AppendBuffer.fork(buffer, 4);
  fork.append(bytes("three"));
  buffer.append(bytes(" four"));
  expect(fork.slice(0, fork.length).toString()).toBe("one three");
  expect(buffer.slice(0, buffer.length).toString()).toBe("one two four");
});

test("only written bytes can be read", () => {
  const buffer = new AppendBuffer();
  buffer.append(bytes("abc"));
  expect(() => buffer.slice(0, 4)).toThrow("only what was written can be read");
});

test("the bytes lie in shared memory", () => {
  const buffer = new AppendBuffer();
  buffer.append(bytes("abc"));
  expect(buffer.slice(0, 3).buffer).toBeInstanceOf(SharedArrayBuffer);
});
