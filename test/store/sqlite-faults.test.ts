import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { limits, type SessionId, sessionId, unwrap } from "../../src/base/index.ts";
import { loadDriver } from "../../src/store/driver.ts";
import { openSqliteStore, type StoreStatus } from "../../src/store/index.ts";
import type { SqliteStore, SqliteStoreOptions } from "../../src/store/sqlite-store.ts";
import { startChild } from "../support/child.ts";
import {
  codeOf,
  content,
  folder,
  frame,
  frames,
  mustPut,
  noise,
  otherSession,
  put,
  session,
} from "./samples.ts";

const { DatabaseSync } = loadDriver();
const openStores: SqliteStore[] = [];

function open(options: SqliteStoreOptions): SqliteStore {
  const store = openSqliteStore(options);
  openStores.push(store);
  return store;
}

// Not after each test: some of them run at the same time.
afterAll(async () => {
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});

/** Resolves with the first status that passes the test. */
function waitForStatus(store: SqliteStore, fits: (status: StoreStatus) => boolean): Promise<StoreStatus> {
  if (fits(store.status())) return Promise.resolve(store.status());
  return new Promise((resolve) => {
    const stop = store.watch((status) => {
      if (!fits(status)) return;
      stop();
      resolve(status);
    });
  });
}

/** The state of a promise, without waiting for it. */
async function stateOf(promise: Promise<unknown>): Promise<"done" | "waiting"> {
  return await Promise.race([promise.then(() => "done" as const), sleep(30, "waiting" as const)]);
}

describe.concurrent("a locked database", () => {
  it("keeps accepted batches and writes them in order when the lock is gone", async () => {
    const path = join(folder(), "aperture.db");
    const store = open({ path });
    const log = frames(40);
    await mustPut(store, { frames: log.slice(0, 1) });
    const locker = new DatabaseSync(path);
    locker.exec("BEGIN IMMEDIATE");
    const order: number[] = [];
    const durable = log.slice(1).map(async (one) => {
      unwrap(await put(store, { frames: [one] }));
      order.push(one.seq);
    });
    const status = await waitForStatus(store, ({ storage }) => storage === "degraded");
    expect(status).toMatchObject({ code: "AP_STORE_LOCKED", waitingFrames: 39 });
    expect(await stateOf(Promise.race(durable))).toBe("waiting");
    expect(unwrap(await store.head(session))).toMatchObject({ seq: 1 });
    expect(codeOf(await store.gc())).toBe("AP_STORE_LOCKED");
    locker.exec("ROLLBACK");
    locker.close();
    await Promise.all(durable);
    expect(order).toEqual(log.slice(1).map(({ seq }) => seq));
    expect(await waitForStatus(store, ({ storage }) => storage === "ok")).toMatchObject({
      code: null,
      waitingFrames: 0,
    });
  });

  it("refuses batches once too much waits, and accepts them again afterwards", async () => {
    const path = join(folder(), "aperture.db");
    const store = open({ path });
    const log = frames(limits.queueFramesMax + 1);
    await mustPut(store, { contents: [content("open")] });
    const locker = new DatabaseSync(path);
    locker.exec("BEGIN IMMEDIATE");
    const all = put(store, { frames: log.slice(0, -1) });
    expect(codeOf(await put(store, { frames: log.slice(-1) }))).toBe("AP_STORE_QUEUE_FULL");
    const large = content(Buffer.alloc(limits.queueBytesMax - 2_000_000, "x"));
    expect(codeOf(await put(store, { contents: [large] }))).toBe("AP_STORE_QUEUE_FULL");
    locker.exec("ROLLBACK");
    locker.close();
    unwrap(await all);
    await mustPut(store, { frames: log.slice(-1) });
    expect(unwrap(await store.head(session))).toMatchObject({ seq: limits.queueFramesMax + 1 });
  });

  it("does not delay closing for ever", async () => {
    const path = join(folder(), "aperture.db");
    const store = open({ path });
    await mustPut(store, { frames: frames(1) });
    const locker = new DatabaseSync(path);
    locker.exec("BEGIN IMMEDIATE");
    const waiting = put(store, { frames: frames(2) });
    const lost = put(store, { frames: frames(1, { session: otherSession }) });
    const closed = store.close();
    expect(codeOf(await waiting)).toBe("AP_STORE_CLOSED");
    expect(codeOf(await lost)).toBe("AP_STORE_CLOSED");
    await closed;
    locker.close();
  });
});

describe("a full disk", () => {
  it("pauses recording, and it resumes by itself", async () => {
    const path = join(folder(), "aperture.db");
    const store = open({ path, maxPages: 60 });
    const contents = Array.from({ length: 12 }, (_, n) => content(noise(`full ${n}`, 40_000)));
    const durable = contents.map((one) => put(store, { contents: [one] }));
    expect(await waitForStatus(store, ({ storage }) => storage === "degraded")).toMatchObject({
      code: "AP_STORE_FULL",
    });
    expect(await stateOf(Promise.all(durable))).toBe("waiting");
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
    await store.limitPages(null);
    for (const result of await Promise.all(durable)) unwrap(result);
    for (const { hash, bytes } of contents) {
      expect(Buffer.compare(unwrap(await store.content(hash)), bytes)).toBe(0);
    }
    expect(store.status()).toMatchObject({ storage: "ok", code: null });
  });
});

describe("a data folder that cannot be used", () => {
  it("is reported at once, keeps accepted batches, and recovers", async () => {
    const path = join(folder(), "data", "aperture.db");
    writeFileSync(dirname(path), "a file where the folder should be");
    const store = open({ path });
    const durable = put(store, { frames: frames(3) });
    expect(await waitForStatus(store, ({ storage }) => storage === "degraded")).toMatchObject({
      code: "AP_STORE_READONLY",
    });
    expect(codeOf(await store.head(session))).toBe("AP_STORE_READONLY");
    expect(codeOf(await store.verify("all"))).toBe("AP_STORE_READONLY");
    rmSync(dirname(path));
    unwrap(await durable);
    expect(unwrap(await store.head(session))).toMatchObject({ seq: 3 });
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });
});

describe("a data folder that may not be written", () => {
  it("is reported at once, and recording resumes when it may be written", async (context) => {
    const path = join(folder(), "data", "aperture.db");
    const before = open({ path });
    await mustPut(before, { frames: frames(2) });
    await before.close();
    const child = startChild("test/store/readonly-child.mjs", [path]);
    const { stderr } = await child.ended;
    expect(stderr).toBe("");
    const [only] = child.lines;
    if (child.lines.length === 1) context.skip(only);
    expect(child.lines).toEqual(["accepted true", "reported AP_STORE_READONLY", "durable true"]);
  });
});

describe("an unusable file", () => {
  it("of another program is kept aside unchanged", async () => {
    const path = join(folder(), "aperture.db");
    const theirs = new DatabaseSync(path);
    theirs.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES ('precious')");
    theirs.close();
    const before = readFileSync(path);
    const store = open({ path });
    await mustPut(store, { frames: frames(2) });
    const aside = asideOf(path, "foreign");
    expect(store.status()).toMatchObject({ storage: "ok", code: "AP_STORE_FOREIGN" });
    expect(store.status().message).toContain(aside);
    expect(readFileSync(join(dirname(path), aside))).toEqual(before);
  });

  it("that is no database is kept aside", async () => {
    const path = join(folder(), "aperture.db");
    writeFileSync(path, "not a database at all ".repeat(400));
    const store = open({ path });
    await mustPut(store, { frames: frames(2) });
    expect(store.status()).toMatchObject({ storage: "ok", code: "AP_STORE_CORRUPT" });
    expect(store.status().message).toContain(asideOf(path, "damaged"));
  });

  it("that turns out damaged while it is written is replaced by a new one", async () => {
    const path = join(folder(), "aperture.db");
    const before = open({ path });
    const log = frames(400);
    await mustPut(before, { frames: log, contents: [content(noise("filler", 90_000))] });
    await before.close();
    const image = readFileSync(path);
    writeFileSync(path, image.fill(0xaa, 4096 * 2));
    const store = open({ path });
    const next = frame({ seq: 401, prevHash: (log[399] as (typeof log)[number]).hash });
    expect(codeOf(await put(store, { frames: [next] }))).toBe("AP_STORE_GAP");
    await mustPut(store, { frames: frames(2, { session: otherSession }) });
    expect(store.status().message).toContain(asideOf(path, "damaged"));
    expect(unwrap(await store.verify("all"))).toMatchObject({ frames: 2, damage: [] });
  });

  it("of a newer format is left alone, and appends are refused at once", async () => {
    const path = join(folder(), "aperture.db");
    const before = open({ path });
    await mustPut(before, { frames: frames(2) });
    await before.close();
    const newer = new DatabaseSync(path);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    const image = readFileSync(path);
    const store = open({ path });
    const early = store.append({ frames: frames(1, { session: otherSession }) });
    expect(codeOf(early.accepted ? await early.durable : early.refused)).toBe("AP_STORE_NEWER");
    expect(await waitForStatus(store, ({ storage }) => storage === "degraded")).toMatchObject({
      code: "AP_STORE_NEWER",
    });
    const late = store.append({ frames: frames(1, { session: otherSession }) });
    expect(late.accepted).toBe(false);
    expect(codeOf(await store.head(session))).toBe("AP_STORE_NEWER");
    await store.close();
    expect(readFileSync(path).equals(image)).toBe(true);
  });

  it("that was deleted while open is started anew, and that is reported", async () => {
    const path = join(folder(), "aperture.db");
    const store = open({ path });
    await mustPut(store, { frames: frames(2) });
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    expect(codeOf(await put(store, { frames: frames(3).slice(2) }))).toBe("AP_STORE_GAP");
    expect(store.status()).toMatchObject({ storage: "ok", code: "AP_STORE_CORRUPT" });
    await mustPut(store, { frames: frames(1, { session: otherSession }) });
    expect(existsSync(path)).toBe(true);
  });

  function asideOf(path: string, kind: string): string {
    const aside = readdirSync(dirname(path)).filter((name) => name.startsWith(`aperture.${kind}-`));
    expect(aside.length).toBeGreaterThan(0);
    return aside.find((name) => name.endsWith(".db")) as string;
  }
});

describe("a database whose owner died", () => {
  it("is checked at its end when it is opened, and damage is reported", async () => {
    const path = join(folder(), "aperture.db");
    const first = open({ path });
    await mustPut(first, { frames: frames(80) });
    const other = new DatabaseSync(path);
    other.exec("UPDATE frames SET sum = sum + 1 WHERE seq = 75");
    const crashed = join(folder(), "crashed.db");
    for (const suffix of ["", "-wal"]) writeFileSync(crashed + suffix, readFileSync(path + suffix));
    other.close();
    const store = open({ path: crashed });
    const status = await waitForStatus(store, ({ code }) => code !== null);
    expect(status).toMatchObject({ storage: "ok", code: "AP_STORE_CORRUPT" });
    expect(status.message).toContain("frame 75");
    expect(unwrap(await store.frames({ session, after: 0, limit: 70 })).length).toBe(70);
    expect(codeOf(await store.frames({ session, after: 70, limit: 9 }))).toBe("AP_STORE_CORRUPT");
  });
});

describe("a database whose owner was killed", () => {
  it("is opened by eight at once, each waits for the others, and nothing is lost", async () => {
    const path = join(folder(), "aperture.db");
    const child = startChild("test/faults/append-child.mjs", [
      JSON.stringify({ path, session, scenario: "append" }),
    ]);
    await child.said((line) => Number(line) >= 200);
    child.process.kill("SIGKILL");
    await child.ended;
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    const lastSeq = Number(child.lines.at(-1));
    const stores = Array.from({ length: 8 }, () => open({ path }));
    const others = stores.map((_, n) => sessionId(`starter-${n}`));
    const results = await Promise.all(
      stores.map((store, n) => put(store, { frames: frames(3, { session: others[n] as SessionId }) })),
    );
    expect(results.map(codeOf)).toEqual(stores.map(() => "ok"));
    const [first] = stores as [SqliteStore, ...SqliteStore[]];
    expect(unwrap(await first.verify("all"))).toMatchObject({ damage: [], sessions: 9 });
    expect(unwrap(await first.head(session))?.seq).toBeGreaterThanOrEqual(lastSeq);
    expect(first.status()).toMatchObject({ storage: "ok", code: null });
  }, 60_000);
});

describe("two stores on one file", () => {
  it("write by turns, each sees what the other wrote, and none overwrites", async () => {
    const path = join(folder(), "aperture.db");
    const [one, two] = [open({ path }), open({ path })];
    const [mine, theirs] = [frames(100), frames(100, { session: otherSession })];
    const results = await Promise.all([
      ...mine.map((each) => put(one, { frames: [each] })),
      ...theirs.map((each) => put(two, { frames: [each] })),
    ]);
    expect(results.map(codeOf).filter((code) => code !== "ok")).toEqual([]);
    expect(unwrap(await two.frames({ session, after: 0, limit: 200 }))).toEqual(mine);
    expect(unwrap(await one.frames({ session: otherSession, after: 0, limit: 200 }))).toEqual(theirs);
    const prevHash = (mine[99] as (typeof mine)[number]).hash;
    await mustPut(one, { frames: [frame({ seq: 101, prevHash, note: "one" })] });
    expect(codeOf(await put(two, { frames: [frame({ seq: 101, prevHash, note: "two" })] }))).toBe(
      "AP_STORE_DIVERGED",
    );
    expect(unwrap(await one.verify("all")).damage).toEqual([]);
  });

  it("may start at once on a file that does not exist yet", async () => {
    const path = join(folder(), "new", "aperture.db");
    mkdirSync(dirname(path));
    const stores = Array.from({ length: 4 }, () => open({ path }));
    const results = await Promise.all(stores.map((store) => put(store, { frames: frames(1) })));
    expect(results.map(codeOf)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});
