import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hashContent, limits, must } from "../base/index.ts";
import { StoreFault } from "./database-faults.ts";
import type { Driver } from "./driver.ts";
import type { StoreReply, StoreRequest } from "./store-messages.ts";
import { StoreThread } from "./store-thread.ts";

/** A driver that fails to open, with the given fault. */
function failingDriver(fault: () => StoreFault): Driver {
  return {
    DatabaseSync: class {
      constructor() {
        throw fault();
      }
    } as unknown as Driver["DatabaseSync"],
  };
}

const missing = () => new StoreFault("stop", "AP_STORE_OLDER_NODE", { problem: "no such module" });
const locked = () => new StoreFault("wait", "AP_STORE_LOCKED", {});
/** The driver of a machine without SQLite. */
const driverWithoutSqlite = failingDriver(missing);

function request(id: number, bytes: Uint8Array): StoreRequest {
  return { id, call: { type: "append", batch: { contents: [{ hash: hashContent("a"), bytes }] } } };
}

describe("a store without a driver", () => {
  it("reports that and refuses waiting and new batches", () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-thread-"));
    const replies: StoreReply[] = [];
    const options = {
      path: join(folder, "aperture.db"),
      maxPages: null,
      failPoint: null,
      isBackground: false,
    };
    const thread = new StoreThread(options, driverWithoutSqlite);
    const send = (reply: StoreReply): void => void replies.push(reply);
    thread.addHandle(send);
    const batch = { contents: [{ hash: hashContent("a"), bytes: Buffer.from("a") }] };
    thread.receive([{ request: { id: 1, call: { type: "append", batch } }, send }]);
    thread.receive([
      { request: { id: 2, call: { type: "append", batch } }, send },
      { request: { id: 3, call: { type: "sessions" } }, send },
    ]);
    const error = { code: "AP_STORE_OLDER_NODE" };
    expect(replies).toMatchObject([
      { type: "health", health: { storage: "degraded", refusing: error } },
      { type: "appended", outcomes: [{ id: 1, refusal: error }] },
      { type: "appended", outcomes: [{ id: 2, refusal: error }] },
      { type: "answer", id: 3, result: { ok: false, error } },
    ]);
    rmSync(folder, { recursive: true });
  });
});

describe("a store with several handles", () => {
  it("reports to each its own batches, to all its health, and limits the queue", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-thread-"));
    const options = {
      path: join(folder, "aperture.db"),
      maxPages: null,
      failPoint: null,
      isBackground: false,
    };
    let fault = locked;
    const thread = new StoreThread(
      options,
      failingDriver(() => fault()),
    );
    const [first, second]: [StoreReply[], StoreReply[]] = [[], []];
    const senders = [first, second].map((replies) => (reply: StoreReply) => void replies.push(reply));
    const [toFirst, toSecond] = [must(senders[0], "two"), must(senders[1], "two")];
    thread.addHandle(toFirst);
    thread.receive([{ request: request(1, new Uint8Array(limits.queueBytesMax * 2)), send: toFirst }]);
    thread.removeHandle(toFirst);
    thread.addHandle(toSecond);
    thread.receive([{ request: request(1, new Uint8Array(1)), send: toSecond }]);
    expect(first).toEqual([]);
    expect(second).toMatchObject([
      { type: "appended", outcomes: [{ id: 1, refusal: { code: "AP_STORE_QUEUE_FULL" } }] },
    ]);
    fault = missing;
    await thread.close();
    const error = { code: "AP_STORE_OLDER_NODE" };
    expect(first).toMatchObject([{ type: "appended", outcomes: [{ id: 1, refusal: error }] }]);
    expect(second.slice(1)).toMatchObject([{ type: "health", health: { refusing: error } }]);
    rmSync(folder, { recursive: true });
  });
});
