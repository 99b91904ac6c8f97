import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashContent, sessionId, unwrap } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import { type FrameAttachments, openSession, type SessionLog } from "../../src/log/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";
import { main, opening } from "../support/random-session.ts";

const session = sessionId("locked");
const appends = 200;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a database that another process has locked", () => {
  it("accepts every append without waiting, and writes them in order afterwards", async () => {
    const path = join(folder, "aperture.db");
    const store = openSqliteStore({ path });
    const log = unwrap(await openSession({ store, session, clock: { now: () => 1_000 } }));
    unwrap(await unwrap(log.append(opening())).durable);
    const locker = startChild("test/faults/lock-child.mjs", [path], "pipe");
    await locker.said((line) => line === "locked");

    // The lock is held until all of this is over: an append that waited for it would never return.
    const durable: number[] = [];
    const confirmed = Array.from({ length: appends }, () => {
      const recorded = unwrap(log.append(entryOf(log), attachedTo(log)));
      return recorded.durable.then((result) => {
        unwrap(result);
        durable.push(recorded.frame.seq);
      });
    });
    await expect.poll(() => store.status().code).toBe("AP_STORE_LOCKED");
    expect(durable, "nothing is durable while the lock is held").toEqual([]);
    expect(log.state().seq).toBe(appends + 1);

    locker.process.stdin?.end();
    await Promise.all(confirmed);
    expect(durable).toEqual(confirmed.map((_, index) => index + 2));
    expect(store.status()).toMatchObject({ storage: "ok", code: null, waitingFrames: 0 });
    expect(unwrap(await store.head(session))?.seq).toBe(log.state().seq);
    await store.close();
  });
});

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
