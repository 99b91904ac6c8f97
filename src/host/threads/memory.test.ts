import { expect, test } from "vitest";
import { heapShare, type MemoryLevel, memoryLevel, processShare } from "./memory.ts";

test("the level rises as memory runs out, and falls only once there is room to spare", () => {
  let level: MemoryLevel = "ok";
  const levels = [0.5, 0.84, 0.85, 0.81, 0.94, 0.95, 0.91, 0.89, 0.81, 0.79, 0.84].map((share) => {
    level = memoryLevel(level, share);
    return level;
  });
  const [ok, lean, pass] = ["ok", "lean", "pass"];
  expect(levels).toEqual([ok, ok, lean, lean, lean, pass, pass, lean, lean, ok, ok]);
  expect([memoryLevel("pass", 0.1), memoryLevel("ok", 1)]).toEqual([ok, pass]);
});

test("shares are between 0 and 1", () => {
  for (const share of [heapShare(), processShare()]) {
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThan(1);
  }
});
