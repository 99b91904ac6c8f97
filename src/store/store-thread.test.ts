import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hashContent, limits, must } from "../base/index.ts";
import type { Driver } from "./driver.ts";
import { StoreFault } from "./faults.ts";
import type { Reply, Request } from "./messages.ts";
import { StoreThread } from "./store-thread.ts";

/** A driver that opens nothing, for the reason it is given. */
function failing(fault: () => StoreFault): Driver {
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
/** What a machine without SQLite has in place of it. */
const none = failing(missing);

function request(id: number, bytes: Uint8Array): Request {
  return { id, call: { type: "append", batch: { contents: [{ hash: hashContent("a"), bytes }] } } };
}

describe("a store without a driver", () => {
  it("says so and refuses everything, those who wait and those who come", () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-thread-"));
    const replies: Reply[] = [];
    const options = {
      path: join(folder, "aperture.db"),
      maxPages: null,
      failPoint: null,
      isBackground: false,
    };
    const thread = new StoreThread(options, none);
    const answer = (reply: Reply): void => void replies.push(reply);
    thread.join(answer);
    const batch = { contents: [{ hash: hashContent("a"), bytes: Buffer.from("a") }] };
    thread.receive([{ request: { id: 1, call: { type: "append", batch } }, answer }]);
    thread.receive([
      { request: { id: 2, call: { type: "append", batch } }, answer },
      { request: { id: 3, call: { type: "sessions" } }, answer },
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
  it("tells each of its own batches, both of its health, and takes no more than it may", async () => {
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
      failing(() => fault()),
    );
    const [first, second]: [Reply[], Reply[]] = [[], []];
    const answers = [first, second].map((replies) => (reply: Reply) => void replies.push(reply));
    const [toFirst, toSecond] = [must(answers[0], "two"), must(answers[1], "two")];
    thread.join(toFirst);
    thread.receive([{ request: request(1, new Uint8Array(limits.queueBytesMax * 2)), answer: toFirst }]);
    thread.leave(toFirst);
    thread.join(toSecond);
    thread.receive([{ request: request(1, new Uint8Array(1)), answer: toSecond }]);
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
