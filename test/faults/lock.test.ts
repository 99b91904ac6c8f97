import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashContent, sessionId, unwrap } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import { type FrameAttachments, openSession, type SessionLog } from "../../src/log/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";
import { main, opening } from "../support/random-session.ts";

const session = sessionId("locked");
const lockedMs = 10_000;
const busyMs = lockedMs - 500;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a database another process has locked for ten seconds", () => {
  it("accepts appends at once, does not stall, and is written in order afterwards", async () => {
    // If we stalled, every attempt would; a busy machine stalls only some.
    const attempts: LockAttempt[] = [];
    while (attempts.length < 3 && !attempts.some(isQuick))
      attempts.push(await appendUnderLock(attempts.length));
    console.log(attempts.map(summaryOf).join("\n"));
    expect(attempts.filter(isQuick), "one of three attempts without a stall").not.toEqual([]);
  }, 120_000);
});

type LockAttempt = {
  readonly appends: number;
  readonly slowestCallMs: number;
  readonly stallMs: number;
  readonly idleMs: number;
};

/** If the machine stalls even an idle process, that much stall is allowed. */
function isQuick({ slowestCallMs, stallMs, idleMs }: LockAttempt): boolean {
  return slowestCallMs < 50 && stallMs < (idleMs < 20 ? 20 : idleMs + 20);
}

function summaryOf({ appends, slowestCallMs, stallMs, idleMs }: LockAttempt): string {
  const stall = `event loop held up ${stallMs.toFixed(1)} ms at most, an idle process ${idleMs.toFixed(1)} ms`;
  return `${appends} appends under lock, slowest ${slowestCallMs.toFixed(2)} ms; ${stall}`;
}

/** Everything but the speed must be right in every attempt. */
async function appendUnderLock(attempt: number): Promise<LockAttempt> {
  const path = join(folder, `${attempt}.db`);
  const store = openSqliteStore({ path });
  const log = unwrap(await openSession({ store, session, clock: { now: () => Date.now() } }));
  unwrap(await unwrap(log.append(opening())).durable);
  const locker = startChild("test/faults/lock-child.mjs", [path, String(lockedMs)]);
  await locker.said((line) => line === "locked");
  const idle = startChild("test/faults/idle-child.mjs", [String(busyMs)]);
  const report = await appendFor(busyMs, log, store);
  expect(report.durable, "nothing is durable while the lock is held").toEqual([]);
  expect(report.wasDegraded).toBe(true);
  const idleMs = Number(await idle.said(() => true));

  await locker.said((line) => line === "released");
  await Promise.all(report.confirmed);
  expect(report.durable).toEqual(report.confirmed.map((_, index) => index + 2));
  expect(report.durable.length).toBeGreaterThan(100);
  expect(store.status()).toMatchObject({ storage: "ok", code: null, waitingFrames: 0 });
  expect(unwrap(await store.head(session))?.seq).toBe(log.state().seq);
  await store.close();
  const { slowestCallMs, stallMs } = report;
  return { appends: report.durable.length, slowestCallMs, stallMs, idleMs };
}

type AppendReport = {
  /** Seqs in the order they became durable. */
  readonly durable: number[];
  readonly confirmed: readonly Promise<void>[];
  readonly slowestCallMs: number;
  readonly stallMs: number;
  readonly wasDegraded: boolean;
};

async function appendFor(ms: number, log: SessionLog, store: Store): Promise<AppendReport> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const durable: number[] = [];
  const confirmed: Promise<void>[] = [];
  let slowestCallMs = 0;
  let wasDegraded = false;
  for (const start = performance.now(); performance.now() - start < ms; await sleep(20)) {
    const call = performance.now();
    const recorded = unwrap(log.append(entryOf(log), attachedTo(log)));
    slowestCallMs = Math.max(slowestCallMs, performance.now() - call);
    confirmed.push(
      recorded.durable.then((result) => {
        unwrap(result);
        durable.push(recorded.frame.seq);
      }),
    );
    wasDegraded ||= store.status().code === "AP_STORE_LOCKED";
  }
  delays.disable();
  return { durable, confirmed, slowestCallMs, stallMs: delays.max / 1e6, wasDegraded };
}

function entryOf(log: SessionLog): FrameEntry {
  const from = log.state().next.block;
  const reserved: Delta = { type: "ids-reserved", stream: main, of: "block", from, to: from + 1 };
  return {
    stream: null,
    actor: "client",
    cause: { type: "session", step: null, reason: "" },
    deltas: [reserved],
  };
}

/** A content and a body, as a recorded request has them. */
function attachedTo(log: SessionLog): FrameAttachments {
  const bytes = Buffer.from(`${log.state().seq} ${"a tool result of some length\n".repeat(700)}`);
  const hash = hashContent(bytes);
  const recipe = [{ from: "content", content: hash, start: 0, length: bytes.length }] as const;
  const row = {
    session,
    exchange: log.state().seq,
    side: "client-request",
    hash,
    length: bytes.length,
  } as const;
  return { contents: [{ hash, bytes }], bodies: [{ ...row, recipe }] };
}
