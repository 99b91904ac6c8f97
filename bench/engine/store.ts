import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { openSession } from "../../src/log/index.ts";
import { type Driver, loadDriver } from "../../src/store/driver.ts";
import { openSqliteStore, type Store } from "../../src/store/index.ts";
import { recordedSession } from "../../test/support/recorded-session.ts";
import { readRecording, recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import { compareAsync, keep, quantile } from "../measure.ts";
import { type BenchOptions, type Cell, round } from "../report.ts";
import { framesText } from "./state-at.ts";
import { build, entries, readAt, type SessionShape, session } from "./synthetic.ts";

const clock = { now: () => 1_700_000_000_000 };

export async function* storeTimeCells(options: BenchOptions): AsyncGenerator<Cell> {
  yield* openCells(options, 500);
  yield* openCells(options, "growing");
  yield* appendCells(options);
}

async function* openCells({ quick }: BenchOptions, blocks: SessionShape["blocks"]): AsyncGenerator<Cell> {
  const counts = quick ? ([100, 1_000] as const) : ([1_000, 10_000] as const);
  const folders = await Promise.all(
    counts.map(async (frames) => {
      const folder = mkdtempSync(join(tmpdir(), "aperture-bench-"));
      await fill(folder, { frames, blocks });
      return folder;
    }),
  );
  const rounds = quick ? 1 : 15;
  const boundMax = blocks === "growing" ? 3 : 2;
  const shape = blocks === "growing" ? "with blocks growing" : `at ${blocks} blocks`;
  const cold = folders.map((folder) => () => openCold(folder));
  const [a, b] = (await compareAsync(cold, rounds)) as [number, number];
  const note = `${round(b)} ms against ${round(a)} ms, thread and database included`;
  yield { name: `opening ${framesText(counts)}, ${shape}`, figure: b / a, boundMax, unit: "x", note };
  const stores = folders.map((folder) => openSqliteStore({ path: join(folder, "aperture.db") }));
  const warm = stores.map((store) => () => openWarm(store));
  const [c, d] = (await compareAsync(warm, rounds)) as [number, number];
  const open = `${round(d)} ms against ${round(c)} ms, the store being open`;
  yield { name: `  the session alone, ${shape}`, figure: d / c, boundMax: null, unit: "x", note: open };
  await Promise.all(stores.map((store) => store.close()));
  for (const folder of folders) rmSync(folder, { recursive: true });
}

async function fill(folder: string, shape: SessionShape): Promise<void> {
  const store = openSqliteStore({ path: join(folder, "aperture.db") });
  const log = unwrap(await openSession({ store, session, clock }));
  for (const entry of entries(shape)) {
    const { durable } = unwrap(log.append(entry(log.state())));
    // As in real use, frames come a few at a time.
    if (log.state().seq % 16 === 0) unwrap(await durable);
  }
  await store.close();
}

async function openCold(folder: string): Promise<void> {
  const store = openSqliteStore({ path: join(folder, "aperture.db") });
  await openWarm(store);
  await store.close();
}

async function openWarm(store: Store): Promise<void> {
  const log = unwrap(await openSession({ store, session, clock }));
  keep(readAt(log.state(), log.state().seq, [1, 2, 3]));
}

/** Compares a durable append of one frame with a commit of one row of the same size in a bare database. */
async function* appendCells({ quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-bench-"));
  const { frames } = build({ frames: quick ? 40 : 2_000, blocks: 200 });
  const store = openSqliteStore({ path: join(folder, "aperture.db") });
  const bare = bareTable(loadDriver(), join(folder, "bare.db"));
  const times = { ours: [] as number[], bare: [] as number[] };
  for (const frame of frames) {
    times.ours.push(await timed(() => appendDurably(store, frame)));
    times.bare.push(await timed(() => Promise.resolve(bare.insert())));
  }
  await store.close();
  bare.close();
  rmSync(folder, { recursive: true });
  const [a, b] = [quantile(times.ours, 0.5), quantile(times.bare, 0.5)];
  const tails = `p95 ${round(quantile(times.ours, 0.95))} against ${round(quantile(times.bare, 0.95))} ms`;
  const note = `p50 ${round(a)} ms against ${round(b)} ms; ${tails}`;
  yield {
    name: "a durable append / a bare commit of such a row",
    figure: a / b,
    boundMax: 3,
    unit: "x",
    note,
  };
}

/** Bytes of such a frame on disk. */
const rowBytes = 300;

async function appendDurably(store: Store, frame: Frame): Promise<void> {
  const appended = store.append({ frames: [frame] });
  if (!appended.accepted) throw new Error(appended.refused.error.message);
  unwrap(await appended.durable);
}

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function bareTable({ DatabaseSync }: Driver, path: string) {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  db.exec("CREATE TABLE rows(id INTEGER PRIMARY KEY, bytes BLOB)");
  const statement = db.prepare("INSERT INTO rows(bytes) VALUES (?)");
  const row = Buffer.alloc(rowBytes, 7);
  return {
    insert: () => {
      statement.run(row);
    },
    close: () => db.close(),
  };
}

/** Two long sessions of different clients; without them, all sessions of the folder are used. */
const diskSessions = ["pi-pi-mono-01", "cc-entire-cli-03"];

function sessionsIn(folder: string): readonly string[] {
  const names = recordingNames(folder);
  return diskSessions.every((name) => names.includes(name)) ? diskSessions : names;
}

/**
 * The disk use of real sessions, from which the client's and the upstream's bytes of every turn can be
 * restored.
 */
export async function* diskCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = mkdtempSync(join(tmpdir(), "aperture-bench-"));
  const path = join(folder, "aperture.db");
  const store = openSqliteStore({ path });
  let [allowed, frames, wire] = [0, 0, 0];
  for (const name of sessionsIn(data ?? recordingsFolder)) {
    const recorded = recordedSession(readRecording(name, data ?? recordingsFolder));
    const id = sessionId(name);
    frames += await record(store, id, recorded.entries);
    allowed += 1.5 * recorded.uniqueBytes;
    wire += recorded.sent.reduce((sum, { bytes }) => sum + bytes.length, 0);
    for (const { exchange, side, bytes } of recorded.sent.filter((_, index) => !quick || index % 20 === 0)) {
      const restored = unwrap(await store.body({ session: id, exchange, side }));
      if (!bytes.equals(restored))
        throw new Error(`${name}: exchange ${exchange} ${side} came back different`);
    }
  }
  const openBytes = bytesIn(folder);
  await store.close();
  const bytes = bytesIn(folder);
  rmSync(folder, { recursive: true });
  allowed += 600 * frames;
  const held = `${bytes} bytes (${openBytes} while open) for ${frames} frames`;
  const note = `${held}; ${wire} bytes went over the wire`;
  yield {
    name: "bytes on disk / (1.5 x unique content + 600 a frame)",
    figure: bytes / allowed,
    boundMax: 1,
    unit: "x",
    note,
  };
}

async function record(
  store: Store,
  id: SessionId,
  recorded: ReturnType<typeof recordedSession>["entries"],
): Promise<number> {
  const log = unwrap(await openSession({ store, session: id, clock }));
  for (const { entry, contents, bodies } of recorded) {
    const batch = { contents, bodies: bodies.map((body) => ({ ...body, session: id })) };
    unwrap(await unwrap(log.append(entry, batch)).durable);
  }
  return log.state().seq;
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
