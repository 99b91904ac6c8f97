import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sessionId, unwrap } from "../../src/base/index.ts";
import { openSession } from "../../src/session/index.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";
import { opening } from "../support/random-session.ts";

const session = sessionId("locked");
const lockedMs = 10_000;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a database another process has locked for ten seconds", () => {
  it("takes appends at once, stalls nobody, and writes all in order afterwards", async () => {
    const path = join(folder, "aperture.db");
    const store = openSqliteStore({ path });
    const log = unwrap(await openSession({ store, session, clock: { now: () => Date.now() } }));
    unwrap(await unwrap(log.append(opening())).durable);
    const locker = startChild("test/faults/lock-child.mjs", [path, String(lockedMs)]);
    await locker.said((line) => line === "locked");

    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    const order: number[] = [];
    const confirmed: Promise<void>[] = [];
    let slowestMs = 0;
    let wasDegraded = false;
    for (const start = performance.now(); performance.now() - start < lockedMs - 500; await sleep(20)) {
      const from = log.state().next.block;
      const call = performance.now();
      const { frame, durable } = unwrap(log.append(entryOf(from)));
      slowestMs = Math.max(slowestMs, performance.now() - call);
      confirmed.push(
        durable.then((result) => {
          unwrap(result);
          order.push(frame.seq);
        }),
      );
      wasDegraded ||= store.status().code === "AP_STORE_LOCKED";
    }
    delays.disable();
    expect(order, "nothing is durable while the lock is held").toEqual([]);
    expect(wasDegraded).toBe(true);
    expect(slowestMs).toBeLessThan(50);
    expect(delays.max / 1e6).toBeLessThan(20);

    await locker.said((line) => line === "released");
    await Promise.all(confirmed);
    expect(order).toEqual(order.map((_, index) => index + 2));
    expect(order.length).toBeGreaterThan(300);
    expect(store.status()).toMatchObject({ storage: "ok", code: null, waitingFrames: 0 });
    expect(unwrap(await store.head(session))?.seq).toBe(log.state().seq);
    console.log(
      `${order.length} appends under lock: slowest call ${slowestMs.toFixed(2)} ms, ` +
        `event loop max ${(delays.max / 1e6).toFixed(1)} ms`,
    );
    await store.close();
  }, 60_000);
});

function entryOf(from: number) {
  const deltas = [{ type: "ids-reserved", stream: 1, of: "block", from, to: from + 1 }] as const;
  return {
    stream: null,
    actor: "client",
    cause: { type: "session", step: null, reason: "" },
    deltas,
  } as never;
}
