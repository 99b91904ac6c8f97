// Those who use the store's thread come and go; the thread stays, and what they sent is written.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashContent, unwrap } from "../../src/base/index.ts";
import { joinSqliteStore, type SqliteThread, type Store, startSqliteThread } from "../../src/store/index.ts";
import { startChild } from "../support/child.ts";

let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aperture-lines-"));
  path = join(folder, "aperture.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

function textsOf(user: number): readonly string[] {
  return Array.from({ length: 50 }, (_, n) => `user ${user} says ${n} `.repeat(50));
}

/** A user on a thread of its own, ended in the middle of a loop that never ends. */
async function comeAndGo(thread: SqliteThread, texts: readonly string[]): Promise<void> {
  const line = thread.line();
  const script = new URL("./line-thread.mjs", import.meta.url);
  const transferList = [line.port, line.news];
  const worker = new Worker(script, { workerData: { line, texts }, transferList });
  await once(worker, "message");
  await worker.terminate();
}

async function expectAll(store: Store, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const bytes = unwrap(await store.content(hashContent(Buffer.from(text))));
    expect(Buffer.from(bytes).toString()).toBe(text);
  }
  expect(unwrap(await store.verify("all")).damage).toEqual([]);
}

describe("a user of the store's thread that is ended while it is stuck", () => {
  it("has everything written that it sent, and the next one finds it with its first question", async () => {
    const thread = startSqliteThread({ path });
    for (let user = 0; user < 5; user += 1) {
      await comeAndGo(thread, textsOf(user));
      const store = joinSqliteStore(thread.line());
      await expectAll(store, textsOf(user));
      await store.close();
    }
    await thread.close();
  });

  it("has it written also when the file is locked at that moment", async () => {
    const thread = startSqliteThread({ path });
    const store = joinSqliteStore(thread.line());
    unwrap(await store.sessions());
    const locker = startChild("test/faults/lock-child.mjs", [path, "1500"]);
    await locker.said((line) => line === "locked");
    await comeAndGo(thread, textsOf(1));
    await expect.poll(() => store.status().code, { timeout: 5_000 }).toBe("AP_STORE_LOCKED");
    await locker.said((line) => line === "released");
    await expect.poll(() => store.status().storage, { timeout: 5_000 }).toBe("ok");
    await expectAll(store, textsOf(1));
    await thread.close();
  });

  it("has it written when the thread is closed right after", async () => {
    const thread = startSqliteThread({ path });
    await comeAndGo(thread, textsOf(1));
    await thread.close();
    const again = startSqliteThread({ path });
    await expectAll(joinSqliteStore(again.line()), textsOf(1));
    await again.close();
  });
});

describe("users whose thread dies", () => {
  it("are joined to the next one, and tell it what the first had not written", async () => {
    const failPoint = { name: "commit-before", hit: 1, action: "throw" } as const;
    const thread = startSqliteThread({ path, failPoint });
    const stores = [joinSqliteStore(thread.line()), joinSqliteStore(thread.line())];
    const codes: (string | null)[] = [];
    for (const store of stores) store.watch(({ code }) => codes.push(code));
    const results = stores.flatMap((store, user) =>
      textsOf(user).map((text) => {
        const bytes = Buffer.from(text);
        const appended = store.append({ contents: [{ hash: hashContent(bytes), bytes }] });
        return appended.accepted ? appended.durable : appended.refused;
      }),
    );
    expect((await Promise.all(results)).every(({ ok }) => ok)).toBe(true);
    expect(codes.filter((code) => code === "AP_STORE_IO")).toHaveLength(2);
    const late = joinSqliteStore(thread.line());
    await expectAll(late, [...textsOf(0), ...textsOf(1)]);
    expect(late.status().storage).toBe("ok");
    await thread.close();
  });
});
