import { expect, test } from "vitest";
import { Image } from "./image.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

test("what was written stays where it was, however much is appended", () => {
  const image = new Image();
  image.append(bytes("first"));
  const view = image.slice(0, 5);
  for (let n = 0; n < 50; n += 1) image.append(Buffer.alloc(1000, n));
  expect(image.length).toBe(50_005);
  expect(view.toString()).toBe("first");
  expect(image.slice(0, 5).toString()).toBe("first");
  expect(image.slice(5 + 49_000, 5 + 49_001)[0]).toBe(49);
});

test("room grows in steps: appending does not copy everything each time", () => {
  const image = new Image();
  const capacities = new Set<number>();
  for (let n = 0; n < 1000; n += 1) {
    image.append(Buffer.alloc(100));
    capacities.add(image.capacity);
  }
  expect(capacities.size).toBeLessThan(12);
  expect(image.capacity).toBeGreaterThanOrEqual(image.length);
});

test("room that was made in advance is enough", () => {
  const image = new Image();
  image.reserve(100_000);
  const { capacity } = image;
  for (let n = 0; n < 100; n += 1) image.append(Buffer.alloc(1000));
  expect([image.capacity, image.length]).toEqual([capacity, 100_000]);
});

test("a fork goes on differently and leaves the other alone", () => {
  const image = new Image();
  image.append(bytes("one two"));
  const fork = Image.fork(image, 4);
  fork.append(bytes("three"));
  image.append(bytes(" four"));
  expect(fork.slice(0, fork.length).toString()).toBe("one three");
  expect(image.slice(0, image.length).toString()).toBe("one two four");
});

test("only what was written can be read", () => {
  const image = new Image();
  image.append(bytes("abc"));
  expect(() => image.slice(0, 4)).toThrow("only what was written can be read");
});

test("it lies in memory that other threads may read", () => {
  const image = new Image();
  image.append(bytes("abc"));
  expect(image.slice(0, 3).buffer).toBeInstanceOf(SharedArrayBuffer);
});
