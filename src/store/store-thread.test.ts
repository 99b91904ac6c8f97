import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hashContent } from "../base/index.ts";
import type { Driver } from "./driver.ts";
import { StoreFault } from "./faults.ts";
import type { Reply } from "./messages.ts";
import { StoreThread } from "./store-thread.ts";

/** What a machine without SQLite has in place of it. */
const none: Driver = {
  DatabaseSync: class {
    constructor() {
      throw new StoreFault("stop", "AP_STORE_OLDER_NODE", { problem: "no such module" });
    }
  } as unknown as Driver["DatabaseSync"],
};

describe("a store without a driver", () => {
  it("says so and refuses everything, those who wait and those who come", () => {
    const folder = mkdtempSync(join(tmpdir(), "aperture-thread-"));
    const replies: Reply[] = [];
    const options = { path: join(folder, "aperture.db"), maxPages: null, failPoint: null };
    const thread = new StoreThread(options, none, (reply) => replies.push(reply));
    const batch = { contents: [{ hash: hashContent("a"), bytes: Buffer.from("a") }] };
    thread.receive([{ id: 1, call: { type: "append", batch } }]);
    thread.receive([
      { id: 2, call: { type: "append", batch } },
      { id: 3, call: { type: "sessions" } },
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
