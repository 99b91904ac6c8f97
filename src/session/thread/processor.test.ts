import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { threadName, waitedMs } from "./processor.ts";

describe("what the system says of a thread", () => {
  it("is never less than before, and nothing where there is no such thread", async () => {
    const before = waitedMs(threadName());
    await sleep(20);
    expect(waitedMs(threadName())).toBeGreaterThanOrEqual(before);
    expect(waitedMs(null)).toBe(0);
    expect(waitedMs("no such thread")).toBe(0);
  });

  it.runIf(process.platform === "linux")("names a thread of this process on Linux", () => {
    expect(threadName()).toMatch(/^[0-9]+$/);
  });
});
