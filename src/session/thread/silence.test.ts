import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Silence } from "./silence.ts";

/** A silence that is watched, and what became of it. */
function watch({ waitedMs = () => 0, startMs = 60 }: { waitedMs?: () => number; startMs?: number } = {}) {
  const seen = { calls: 0 };
  const silence = new Silence({ ms: 60, startMs, waitedMs }, () => {
    seen.calls += 1;
  });
  return { silence, seen };
}

describe("a silence", () => {
  it("is noticed once", async () => {
    const { seen } = watch();
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
    await sleep(150);
    expect(seen.calls).toBe(1);
  });

  it("is none while something is heard", async () => {
    const { silence, seen } = watch();
    for (let n = 0; n < 40; n += 1) {
      silence.heard();
      await sleep(5);
    }
    expect(seen.calls).toBe(0);
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("may last longer at the start", async () => {
    const { silence, seen } = watch({ startMs: 60_000 });
    await sleep(200);
    expect(seen.calls).toBe(0);
    silence.heard();
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("is none of one who waits for a processor, nor while this thread itself is held up", async () => {
    let waited = 0;
    const starved = watch({
      waitedMs: () => {
        waited += 100;
        return waited;
      },
    });
    const { seen } = watch();
    const until = performance.now() + 200;
    while (performance.now() < until);
    await new Promise((resume) => setImmediate(resume));
    expect(seen.calls).toBe(0);
    await expect.poll(() => seen.calls, { timeout: 5_000 }).toBe(1);
    expect(starved.seen.calls).toBe(0);
    // It ends all the same: what spins waits too.
    await expect.poll(() => starved.seen.calls, { timeout: 5_000 }).toBe(1);
  });

  it("that is not watched any more is not noticed", async () => {
    const { silence, seen } = watch();
    silence.end();
    await sleep(150);
    expect(seen.calls).toBe(0);
  });
});
