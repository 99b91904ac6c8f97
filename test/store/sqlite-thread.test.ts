import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unwrap } from "../../src/base/index.ts";
import { type FailPointName, failPointNames } from "../../src/store/fail-points.ts";
import { type Batch, openSqliteStore, type Store } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";
import { body, codeOf, content, folder, frames, noise, put, session, slice, snapshot } from "./samples.ts";

/**
 * Enough to pass every point of an append: contents that share, bodies, snapshots that replace each other.
 */
function batches(): readonly Batch[] {
  const log = frames(12);
  return log.map((frame, n) => {
    const stored = content(noise("told", 800 + n * 100));
    return {
      contents: [stored],
      frames: [frame],
      bodies: [body({ exchange: n + 1, bytes: stored.bytes, recipe: [slice(stored)] })],
      snapshots: n % 3 === 2 ? [snapshot(frame, [`page ${n}`, "page for all"])] : [],
    };
  });
}

async function expectWhole(store: Store): Promise<void> {
  const report = unwrap(await store.verify("all"));
  expect(report).toEqual({
    scope: "all",
    sessions: 1,
    frames: 12,
    contents: 12,
    bodies: 12,
    pages: 2,
    damage: [],
  });
  expect(unwrap(await store.frames({ session, after: 0, limit: 99 }))).toEqual(frames(12));
}

/** Asks again: a query fails if its thread dies, and the next thread answers it. */
async function queryAgain<T>(
  ask: () => Promise<T & { readonly ok: boolean }>,
): Promise<T & { readonly ok: boolean }> {
  for (;;) {
    const answer = await ask();
    if (answer.ok) return answer;
    await new Promise((resume) => setImmediate(resume));
  }
}

const isMigrationPoint = (name: FailPointName): boolean => name.startsWith("migration-");
const isJobPoint = (name: FailPointName): boolean => /^(purge|drop|gc|backup|checkpoint)-/.test(name);
const appendPoints = failPointNames.filter(
  (name) => !isMigrationPoint(name) && !isJobPoint(name) && !name.startsWith("aside"),
);

/** Points around the commit of each job; the others lie inside one transaction. */
const commitPoints = failPointNames.filter((name) =>
  /^(purge-commit|gc-commit|gc-vacuum|backup-write)-/.test(name),
);

describe.concurrent("a thread that dies", () => {
  it.each(appendPoints)(
    "at %s is replaced, and everything accepted is written once and in order",
    async (name) => {
      const path = join(folder(), "aperture.db");
      const store = openSqliteStore({ path, failPoint: { name, hit: 1, action: "throw" } });
      const seen: (string | null)[] = [];
      store.watch(({ code }) => seen.push(code));
      const order: number[] = [];
      const results = batches().map(async (batch, n) => {
        const result = await put(store, batch);
        order.push(n);
        return result;
      });
      expect((await Promise.all(results)).map(codeOf)).toEqual(results.map(() => "ok"));
      expect(order).toEqual(results.map((_, n) => n));
      expect(seen).toContain("AP_STORE_IO");
      await queryAgain(() => store.head(session));
      expect(store.status()).toMatchObject({ storage: "ok", waitingFrames: 0, waitingBytes: 0 });
      await expectWhole(store);
      await store.close();
    },
  );

  it.each(failPointNames.filter((name) => isMigrationPoint(name) && !name.startsWith("migration-backup")))(
    "at %s leaves nothing half made",
    async (name) => {
      const path = join(folder(), "aperture.db");
      const store = openSqliteStore({ path, failPoint: { name, hit: 1, action: "throw" } });
      const results = await Promise.all(batches().map((batch) => put(store, batch)));
      expect(results.map(codeOf)).toEqual(results.map(() => "ok"));
      await expectWhole(store);
      await store.close();
    },
  );

  it.each(commitPoints)("at %s has done the whole job or nothing of it", async (name) => {
    const path = join(folder(), "aperture.db");
    const store = openSqliteStore({ path, failPoint: { name, hit: 1, action: "throw" } });
    for (const batch of batches()) unwrap(await put(store, batch));
    const gone = content(noise("told", 900));
    let copies = 0;
    await queryAgain(() => store.purge([gone.hash]));
    await queryAgain(() => store.gc());
    await queryAgain(() => {
      copies += 1;
      return store.backup(join(folder(), `copy-${copies}.db`));
    });
    expect(codeOf(await store.content(gone.hash))).toBe("AP_CONTENT_PURGED");
    expect(unwrap(await store.verify("all"))).toMatchObject({
      frames: 12,
      contents: 12,
      bodies: 12,
      damage: [],
    });
    await store.close();
  });

  it("while it closes loses nothing durable", async () => {
    const path = join(folder(), "aperture.db");
    const store = openSqliteStore({
      path,
      failPoint: { name: "checkpoint-before", hit: 1, action: "throw" },
    });
    for (const batch of batches()) unwrap(await put(store, batch));
    await store.close();
    const again = openSqliteStore({ path });
    await expectWhole(again);
    await again.close();
  });
});

describe("a process that exits while it writes", () => {
  it("exits with its code, and leaves an intact database", async () => {
    const path = join(folder(), "aperture.db");
    for (let round = 0; round < 4; round++) {
      const child = startChild("test/store/exit-child.mjs", [path, String(round * 7)]);
      expect(await child.ended).toEqual({ code: 7, signal: null, stderr: "" });
    }
    const store = openSqliteStore({ path });
    expect(unwrap(await store.verify("all")).damage).toEqual([]);
    await store.close();
  });
});
