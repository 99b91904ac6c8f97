import { expect, it } from "vitest";
import { steppedClock } from "./clock.ts";

it("a stepped clock stands still until it is advanced", () => {
  const clock = steppedClock(1_000);
  expect([clock.now(), clock.now()]).toEqual([1_000, 1_000]);
});

it("a stepped clock moves by exactly the given time, and may jump back as real clocks do", () => {
  const clock = steppedClock(1_000);
  clock.advance(250);
  clock.advance(1);
  expect(clock.now()).toBe(1_251);
  clock.advance(-300);
  expect(clock.now()).toBe(951);
});

it("two clocks do not share their time", () => {
  const [one, other] = [steppedClock(0), steppedClock(0)];
  one.advance(5);
  expect(other.now()).toBe(0);
});
