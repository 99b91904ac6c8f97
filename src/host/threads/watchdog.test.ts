import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Watchdog } from "./watchdog.ts";

/** A watchdog, and how often it has called back. */
function watch({ cpuWaitMs = () => 0, startMs = 60 }: { cpuWaitMs?: () => number; startMs?: number } = {}) {
  const seen = { calls: 0 };
  const watchdog = new Watchdog({ ms: 60, startMs, cpuWaitMs }, () => {
    seen.calls += 1;
  });
  return { watchdog, seen };
}

describe("a watchdog", () => {
  it("calls back once", async () => {
    const { seen } = watch();
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
    await sleep(150);
    expect(seen.calls).toBe(1);
  });

  it("does not call back while there is activity", async () => {
    const { watchdog, seen } = watch();
    for (let n = 0; n < 40; n += 1) {
      watchdog.noteActivity();
      await sleep(5);
    }
    expect(seen.calls).toBe(0);
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("allows more time at the start", async () => {
    const { watchdog, seen } = watch({ startMs: 60_000 });
    await sleep(200);
    expect(seen.calls).toBe(0);
    watchdog.noteActivity();
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("excuses time spent waiting for a CPU, and time in which its own thread is blocked", async () => {
    let waitMs = 0;
    const starved = watch({
      cpuWaitMs: () => {
        waitMs += 100;
        return waitMs;
      },
    });
    const { seen } = watch();
    const until = performance.now() + 200;
    while (performance.now() < until);
    await new Promise((resume) => setImmediate(resume));
    expect(seen.calls).toBe(0);
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
    expect(starved.seen.calls).toBe(0);
    // The excuse is limited: a thread that spins waits for a CPU too.
    await expect.poll(() => starved.seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("does not call back after it was stopped", async () => {
    const { watchdog, seen } = watch();
    watchdog.stop();
    await sleep(150);
    expect(seen.calls).toBe(0);
  });
});
