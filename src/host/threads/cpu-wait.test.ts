import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { cpuWaitMs, systemThreadId } from "./cpu-wait.ts";

describe("the CPU wait of a thread", () => {
  it("never decreases, and is 0 if there is no such thread", async () => {
    const before = cpuWaitMs(systemThreadId());
    await sleep(20);
    expect(cpuWaitMs(systemThreadId())).toBeGreaterThanOrEqual(before);
    expect(cpuWaitMs(null)).toBe(0);
    expect(cpuWaitMs("no such thread")).toBe(0);
  });

  it.runIf(process.platform === "linux")("is found by the system's thread id on Linux", () => {
    expect(systemThreadId()).toMatch(/^[0-9]+$/);
  });
});
