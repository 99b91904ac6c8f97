import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, sessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { State } from "../../src/engine/index.ts";
import { momentAt, now } from "../../src/engine/moment/index.ts";
import { openSession, type SessionLog } from "../../src/log/index.ts";
import { openMemoryStore, openSqliteStore, type Store } from "../../src/store/index.ts";
import { describeMoment } from "../support/describe-moment.ts";
import type { Intent } from "../support/random-acts.ts";
import { entryFor, intents, opening } from "../support/random-session.ts";
import { recordedSession } from "../support/recorded-session.ts";
import { readRecording, recordingNames } from "../support/recordings.ts";
import { isLong, numRuns } from "../support/runs.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const clock = steppedClock(1_700_000_000_000);
/** Canonical text, because frames come back from a store with their keys in another order. */
const text = (state: State, seq: number) => canonicalJson(describeMoment(unwrap(momentAt(state, seq))));

/** Every store, with a way to close it and open it again as after a restart. */
const stores: readonly {
  readonly name: string;
  readonly run: (test: (reopen: Reopen) => Promise<void>) => Promise<void>;
}[] = [
  { name: "memory", run: inMemory },
  { name: "sqlite", run: onDisk },
];
type Reopen = () => Promise<Store>;

async function inMemory(test: (reopen: Reopen) => Promise<void>): Promise<void> {
  const store = openMemoryStore();
  await test(() => Promise.resolve(store));
}

async function onDisk(test: (reopen: Reopen) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-sessions-"));
  let store: Store | null = null;
  await test(async () => {
    await store?.close();
    store = openSqliteStore({ path: join(folder, "aperture.db") });
    return store;
  });
  await (store as Store | null)?.close();
  rmSync(folder, { recursive: true });
}

let sessions = 0;

/** Every recorded session with `--long`, else those short enough to be quick. Of each, some bodies or all. */
const recordings = recordingNames().filter((name) => isLong || readRecording(name).turns.length <= 100);
const everyNthBody = isLong ? 1 : 5;

describe.each(stores)("sessions on the $name store", ({ run }) => {
  it("reopen unchanged, at every seq, however often they are closed", async () => {
    await run(async (reopen) => {
      let store = await reopen();
      await fc.assert(
        fc.asyncProperty(intents(40), intents(20), async (first, second) => {
          sessions += 1;
          const session = sessionId(`random-${sessions}`);
          const seen = await play(unwrap(await openSession({ store, session, clock })), first);
          if (sessions % 10 === 0) store = await reopen();
          const again = unwrap(await openSession({ store, session, clock }));
          const more = await play(again, second, seen.frames);
          const last = unwrap(await openSession({ store, session, clock })).state();
          const live = [...seen.live, ...more.live];
          for (const [index, then] of live.entries()) expectSame(text(last, index + 1), then);
          expect(last.seq).toBe(live.length);
        }),
        numRuns(25),
      );
      expect(unwrap(await store.verify("all")).damage).toEqual([]);
    });
  });

  it("keep recorded sessions: snapshots, past states and the exact bytes of requests", async () => {
    await run(async (reopen) => {
      for (const name of recordings) await checkRecording(name, reopen);
    });
  }, 600_000);

  it("undo and redo by appending, also frames that are not durable yet", async () => {
    await run(async (reopen) => {
      const log = unwrap(await openSession({ store: await reopen(), session: sessionId("undone"), clock }));
      const intent = (verb: Intent["verb"]): Intent => ({ verb, a: 0, b: 1, c: 1 });
      await play(log, [intent("say"), intent("pin")]);
      const pinned = text(log.state(), log.state().seq);
      const undone = unwrap(await log.reverseStep(1 as never, "user"));
      expect(undone.frame.cause.type).toBe("undo");
      const redone = unwrap(await log.reverseStep(1 as never, "user"));
      expect(redone.frame.cause.type).toBe("redo");
      expect(facts(text(log.state(), log.state().seq))).toEqual(facts(pinned));
      const missing = await log.reverseStep(99 as never, "user");
      expect(missing).toMatchObject({ ok: false, error: { code: "AP_UNDO_NOTHING" } });
    });
  });
});

/** States are long, so a failure shows only where the difference begins. */
function expectSame(actual: string, expected: string): void {
  const at = [...expected].findIndex((char, index) => char !== actual[index]);
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  if (actual !== expected) expect(around(actual)).toBe(around(expected));
}

function facts(json: string): unknown {
  return (JSON.parse(json) as { views: unknown }).views;
}

type PlayedSession = { readonly live: readonly string[]; readonly frames: readonly Frame[] };

async function play(
  log: SessionLog,
  list: readonly Intent[],
  before: readonly Frame[] = [],
): Promise<PlayedSession> {
  const frames = [...before];
  const live: string[] = [];
  const started = log.state().seq === 0 ? [opening] : [];
  for (const next of [...started, ...list.map((one) => (state: State) => entryFor(state, one, frames))]) {
    const entry = next(log.state());
    if (entry === null) continue;
    const { frame, durable } = unwrap(log.append(entry));
    frames.push(frame);
    live.push(canonicalJson(describeMoment(now(log.state()))));
    unwrap(await durable);
  }
  return { live, frames };
}

async function checkRecording(name: string, reopen: Reopen): Promise<void> {
  const session = sessionId(name);
  const { entries, sent } = recordedSession(readRecording(name));
  const log = unwrap(await openSession({ store: await reopen(), session, clock }));
  const live = new Map<number, string>();
  let durable: Promise<unknown> = Promise.resolve();
  for (const { entry, contents, bodies } of entries) {
    const batch = { contents, bodies: bodies.map((body) => ({ ...body, session })) };
    const recorded = unwrap(log.append(entry, batch));
    durable = recorded.durable.then(unwrap);
    if (recorded.frame.seq % 50 === 0) live.set(recorded.frame.seq, text(log.state(), recorded.frame.seq));
  }
  await durable;
  const store = await reopen();
  const again = unwrap(await openSession({ store, session, clock })).state();
  expect(again.hash).toBe(log.state().hash);
  for (const [seq, then] of live) expectSame(text(again, seq), then);
  for (const { exchange, side, bytes } of sent.filter((_, index) => index % everyNthBody === 0)) {
    const restored = unwrap(await store.body({ session, exchange, side }));
    expect(bytes.equals(restored)).toBe(true);
  }
}
