import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Watchdog } from "./watchdog.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watchdog, and how often it has called back. */
function watch({ cpuWaitMs = () => 0, startMs = 60 }: { cpuWaitMs?: () => number; startMs?: number } = {}) {
  const seen = { calls: 0 };
  const watchdog = new Watchdog({ ms: 60, startMs, cpuWaitMs }, () => {
    seen.calls += 1;
  });
  return { watchdog, seen };
}

describe("a watchdog", () => {
  it("calls back once, when the time is up", () => {
    const { seen } = watch();
    vi.advanceTimersByTime(59);
    expect(seen.calls).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(seen.calls).toBe(1);
  });

  it("does not call back while there is activity", () => {
    const { watchdog, seen } = watch();
    for (let n = 0; n < 40; n += 1) {
      watchdog.noteActivity();
      vi.advanceTimersByTime(50);
    }
    expect(seen.calls).toBe(0);
    vi.advanceTimersByTime(60);
    expect(seen.calls).toBe(1);
  });

  it("allows more time at the start", () => {
    const { watchdog, seen } = watch({ startMs: 60_000 });
    vi.advanceTimersByTime(59_000);
    expect(seen.calls).toBe(0);
    watchdog.noteActivity();
    vi.advanceTimersByTime(66);
    expect(seen.calls).toBe(1);
  });

  it("excuses time spent waiting for a CPU, up to five times the allowed time", () => {
    let waitMs = 0;
    const { seen } = watch({
      cpuWaitMs: () => {
        waitMs += 6;
        return waitMs;
      },
    });
    // The thread got no CPU at all: everything is excused until the excuse is used up.
    vi.advanceTimersByTime(60 * 5);
    expect(seen.calls).toBe(0);
    vi.advanceTimersByTime(60 * 2);
    expect(seen.calls).toBe(1);
  });

  it("does not count time in which its own thread is blocked", () => {
    const { seen } = watch();
    // A blocked thread runs a late timer once, however late it is.
    vi.setSystemTime(Date.now() + 60_000);
    vi.advanceTimersByTime(6);
    expect(seen.calls).toBe(0);
  });

  it("does not call back after it was stopped", () => {
    const { watchdog, seen } = watch();
    watchdog.stop();
    vi.advanceTimersByTime(1_000);
    expect(seen.calls).toBe(0);
  });
});
