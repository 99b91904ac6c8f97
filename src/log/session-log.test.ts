import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main, mainView, opening } from "../../test/support/random-session.ts";
import { blockId, hashContent, limits, messageId, sessionId, stepId, turnOf, unwrap } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import { changes } from "../engine/index.ts";
import { now } from "../engine/moment/index.ts";
import { openMemoryStore, openSqliteStore, type Store } from "../store/index.ts";
import { type FrameEntry, openSession, type SessionLog, snapshotEveryFrames } from "./session-log.ts";

const session = sessionId("logged");
const clock = { now: () => 1_700_000_000_000 };

async function opened(store: Store = openMemoryStore()): Promise<SessionLog> {
  const log = unwrap(await openSession({ store, session, clock }));
  if (log.state().seq === 0) unwrap(await unwrap(log.append(opening())).durable);
  return log;
}

function entry(deltas: readonly Delta[], change: Partial<FrameEntry> = {}): FrameEntry {
  return {
    stream: main,
    actor: "client",
    cause: { type: "request", step: null, reason: "" },
    deltas,
    ...change,
  };
}

const runStarted = (log: SessionLog): Delta => {
  const run = log.state().streams.get(main)?.runs.size ?? 0;
  return { type: "run-started", stream: main, from: run, to: run + 1 };
};

const block = (id: number): Delta => ({
  type: "block-added",
  block: {
    id: blockId(id),
    kind: "user",
    stream: main,
    message: messageId(id),
    turn: turnOf(1),
    speaker: "someone",
    content: hashContent("text"),
    anchor: `a${id}`,
    pair: null,
    taint: "user",
    supersedes: null,
    ttl: null,
  },
});

describe("an append that cannot be recorded", () => {
  const wrong: readonly (readonly [string, FrameEntry])[] = [
    ["a delta of no known type", entry([{ type: "block-flattened", block: 1 } as never])],
    [
      "a reason too long to keep",
      entry([], { cause: { type: "request", step: null, reason: "x".repeat(501) } }),
    ],
    [
      "ids that are not whole",
      entry([{ type: "ids-reserved", stream: main, of: "block", from: 101, to: 101.5 }]),
    ],
    ["a stream that is not a number", entry([], { stream: "main" as never })],
    [
      "a frame larger than allowed",
      entry(Array.from({ length: limits.deltasPerFrameMax + 1 }, () => block(1))),
    ],
  ];

  it.each(wrong)("is refused with an error code for %s, and the state stays", async (_, odd) => {
    const log = await opened();
    const before = log.state();
    expect(log.append(odd)).toMatchObject({ ok: false, error: { code: expect.stringMatching(/^AP_/) } });
    expect(log.state()).toBe(before);
    unwrap(await unwrap(log.append(entry([runStarted(log)]))).durable);
  });

  it("is refused by a full store, and the session continues once there is room again", async () => {
    const store = openMemoryStore();
    let isFull = false;
    const gate: Store = {
      ...store,
      append: (batch) => (isFull ? { accepted: false, refused: noRoom } : store.append(batch)),
    };
    const live = await opened(gate);
    isFull = true;
    const before = live.state();
    expect(live.append(entry([runStarted(live)]))).toMatchObject({ error: { code: "AP_STORE_QUEUE_FULL" } });
    expect(live.state()).toBe(before);
    isFull = false;
    unwrap(await unwrap(live.append(entry([runStarted(live)]))).durable);
  });
});

const noRoom = { ok: false, error: { code: "AP_STORE_QUEUE_FULL", message: "", details: {} } } as const;

describe("a frame whose attachments the store refuses", () => {
  it("is recorded without them, reports the error, and does not block later frames", async () => {
    const store = openMemoryStore();
    const log = await opened(store);
    const forged = { hash: hashContent("other"), bytes: Buffer.from("forged") };
    const bad = unwrap(log.append(entry([runStarted(log)]), { contents: [forged] }));
    const later = [1, 2, 3].map(() => unwrap(log.append(entry([runStarted(log)]))));
    expect(await bad.durable).toMatchObject({ ok: false });
    for (const { durable } of later) unwrap(await durable);
    expect(unwrap(await store.head(session))?.seq).toBe(log.state().seq);
    expect(log.fault()).toBeNull();
  });
});

describe("a session whose log is gone from the store", () => {
  it("refuses frames with an error code until it is opened again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-gone-"));
    const store = openSqliteStore({ path: join(folder, "aperture.db") });
    const log = await opened(store);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `aperture.db${suffix}`), { force: true });
    expect(await unwrap(log.append(entry([runStarted(log)]))).durable).toMatchObject({ ok: false });
    expect(log.fault()).toMatchObject({ code: "AP_STORE_GAP" });
    expect(log.append(entry([runStarted(log)]))).toMatchObject({
      ok: false,
      error: { code: "AP_STORE_GAP" },
    });
    const again = await opened(store);
    unwrap(await unwrap(again.append(entry([runStarted(again)]))).durable);
    await store.close();
    rmSync(folder, { recursive: true });
  });
});

describe("reversing a step", () => {
  it("is refused to the model if the user did the step", async () => {
    const log = await opened();
    unwrap(log.append(entry([block(1)])));
    const view = log.state().views.get(mainView) as never;
    const { deltas } = changes.pin({ moment: now(log.state()), view, actor: "user" }, [blockId(1)], "top");
    const cause = { type: "command", step: stepId(1), reason: "keep" } as const;
    unwrap(log.append(entry(deltas, { actor: "user", cause })));
    expect(await log.reverseStep(stepId(1), "model")).toMatchObject({ error: { code: "AP_UNDO_LOCKED" } });
    expect((await log.reverseStep(stepId(1), "user")).ok).toBe(true);
    expect(await log.reverseStep(stepId(1), "policy")).toMatchObject({ error: { code: "AP_UNDO_LOCKED" } });
  });
});

describe("snapshots", () => {
  it("are written regularly without holding up a frame, and opening uses the newest", async () => {
    const store = openMemoryStore();
    const log = await opened(store);
    while (log.state().seq < snapshotEveryFrames * 2 + 20)
      unwrap(await unwrap(log.append(entry([runStarted(log)]))).durable);
    await new Promise((resume) => setTimeout(resume, 20));
    expect(unwrap(await store.snapshot(session))?.seq).toBeGreaterThanOrEqual(snapshotEveryFrames * 2);
    const again = unwrap(await openSession({ store, session, clock }));
    expect(again.state().hash).toBe(log.state().hash);
  });

  it("are written one after the other, also if frames come faster", async () => {
    const store = openMemoryStore();
    const log = await opened(store);
    let last: Promise<unknown> = Promise.resolve();
    while (log.state().seq < snapshotEveryFrames * 5)
      last = unwrap(log.append(entry([runStarted(log)]))).durable;
    await last;
    await new Promise((resume) => setTimeout(resume, 20));
    unwrap(await unwrap(log.append(entry([runStarted(log)]))).durable);
    await new Promise((resume) => setTimeout(resume, 20));
    expect(unwrap(await store.snapshot(session))?.seq).toBeGreaterThan(snapshotEveryFrames * 4);
    expect(unwrap(await openSession({ store, session, clock })).state().hash).toBe(log.state().hash);
  });

  it("that throw end neither the process nor later snapshots", async () => {
    const inner = openMemoryStore();
    let isBroken = true;
    const append: Store["append"] = (batch) => {
      if (isBroken && batch.snapshots !== undefined) throw new Error("a bug");
      return inner.append(batch);
    };
    const store: Store = { ...inner, append };
    const log = await opened(store);
    const grow = async (to: number) => {
      while (log.state().seq < to) unwrap(await unwrap(log.append(entry([runStarted(log)]))).durable);
      await new Promise((resume) => setTimeout(resume, 20));
    };
    await grow(snapshotEveryFrames + 10);
    isBroken = false;
    await grow(snapshotEveryFrames * 2 + 10);
    expect(unwrap(await store.snapshot(session))?.seq).toBeGreaterThan(snapshotEveryFrames);
  });

  it("that the store refuses are made up for: the next one writes every page", async () => {
    const inner = openMemoryStore();
    let refusing = true;
    const append: Store["append"] = (batch) =>
      refusing && batch.snapshots !== undefined ? { accepted: false, refused: noRoom } : inner.append(batch);
    const store: Store = { ...inner, append };
    const log = await opened(store);
    const grow = async (to: number) => {
      while (log.state().seq < to) unwrap(await unwrap(log.append(entry([runStarted(log)]))).durable);
      await new Promise((resume) => setTimeout(resume, 20));
    };
    await grow(snapshotEveryFrames + 10);
    expect(unwrap(await store.snapshot(session))).toBeNull();
    refusing = false;
    await grow(snapshotEveryFrames * 2 + 10);
    expect(unwrap(await store.snapshot(session))?.seq).toBeGreaterThan(snapshotEveryFrames);
    expect(unwrap(await openSession({ store, session, clock })).state().hash).toBe(log.state().hash);
  });
});
