// Users of the store's thread come and go; the thread stays and writes what they sent.
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

/** Sends the texts from a thread that then hangs, and ends that thread. */
async function sendAndEnd(thread: SqliteThread, texts: readonly string[]): Promise<void> {
  const port = thread.openPort();
  const script = new URL("./port-thread.mjs", import.meta.url);
  const transferList = [port.port, port.news];
  const worker = new Worker(script, { workerData: { port, texts }, transferList });
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

describe("a user of the store's thread that is ended while it hangs", () => {
  it("has everything written that it sent, before the first question of the next user", async () => {
    const thread = startSqliteThread({ path });
    for (let user = 0; user < 5; user += 1) {
      await sendAndEnd(thread, textsOf(user));
      const store = joinSqliteStore(thread.openPort());
      await expectAll(store, textsOf(user));
      await store.close();
    }
    await thread.close();
  });

  it("has it written even if the file is locked at that moment", async () => {
    const thread = startSqliteThread({ path });
    const store = joinSqliteStore(thread.openPort());
    unwrap(await store.sessions());
    const locker = startChild("test/faults/lock-child.mjs", [path], "pipe");
    await locker.said((port) => port === "locked");
    await sendAndEnd(thread, textsOf(1));
    await expect.poll(() => store.status().code).toBe("AP_STORE_LOCKED");
    locker.process.stdin?.end();
    await expect.poll(() => store.status().storage).toBe("ok");
    await expectAll(store, textsOf(1));
    await thread.close();
  });

  it("has it written even if the store's thread is closed right after", async () => {
    const thread = startSqliteThread({ path });
    await sendAndEnd(thread, textsOf(1));
    await thread.close();
    const again = startSqliteThread({ path });
    await expectAll(joinSqliteStore(again.openPort()), textsOf(1));
    await again.close();
  });
});

describe("users of a store's thread that dies", () => {
  it("are connected to the next one, and resend what was not written", async () => {
    const failPoint = { name: "commit-before", hit: 1, action: "throw" } as const;
    const thread = startSqliteThread({ path, failPoint });
    const stores = [joinSqliteStore(thread.openPort()), joinSqliteStore(thread.openPort())];
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
    const newStore = joinSqliteStore(thread.openPort());
    await expectAll(newStore, [...textsOf(0), ...textsOf(1)]);
    expect(newStore.status().storage).toBe("ok");
    await thread.close();
  });
});
