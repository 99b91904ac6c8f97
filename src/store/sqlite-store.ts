import { resolve } from "node:path";
import type { FailPoint } from "./fail-points.ts";
import type { Store } from "./store.ts";
import type { StorePort } from "./store-messages.ts";
import { ThreadHandle } from "./thread-handle.ts";
import { ThreadOwner } from "./thread-owner.ts";

export type SqliteStoreOptions = {
  /** The database file; it and its folder are created if they do not exist. */
  readonly path: string;
  /** Caps the file, in pages of 4096 bytes; reaching it is a full disk. */
  readonly maxPages?: number;
  /** For tests of crashes. */
  readonly failPoint?: FailPoint;
};

export type SqliteStore = Store & {
  /** Changes the cap on the file; null lifts it. Recording that paused because of it resumes by itself. */
  readonly limitPages: (maxPages: number | null) => Promise<void>;
};

/** The thread that owns the database, for users on other threads. */
export type SqliteThread = {
  /** For one `joinSqliteStore`. The caller sends it to the user's thread with `transferList`. */
  readonly openPort: () => StorePort;
  /** Writes the batches it can, and ends the thread. */
  readonly close: () => Promise<void>;
};

/**
 * Returns at once: the file is opened on a thread of its own, and `status` reports what goes wrong with it.
 */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const owner = startOwner(options, false);
  const handle = new ThreadHandle(owner.openPort());
  return storeOver(handle, () => owner.close());
}

/**
 * Starts the same thread for other threads to join. It outlives them: the batches one of them has sent are
 * written, even when that thread ends in the middle of something. It yields the processor to other threads.
 */
export function startSqliteThread(options: SqliteStoreOptions): SqliteThread {
  const owner = startOwner(options, true);
  return { openPort: () => owner.openPort(), close: () => owner.close() };
}

/**
 * A store over another owner's thread. Closing it waits for its own batches and leaves the thread running.
 */
export function joinSqliteStore(port: StorePort): SqliteStore {
  const handle = new ThreadHandle(port);
  return storeOver(handle, () => handle.flush());
}

function startOwner({ path, maxPages, failPoint }: SqliteStoreOptions, isBackground: boolean): ThreadOwner {
  const rest = { maxPages: maxPages ?? null, failPoint: failPoint ?? null, isBackground };
  return new ThreadOwner({ path: resolve(path), ...rest }, workerEntry());
}

function storeOver(thread: ThreadHandle, ending: () => Promise<void>): SqliteStore {
  return {
    append: (batch) => thread.append(batch),
    sessions: () => thread.query({ type: "sessions" }),
    head: (session) => thread.query({ type: "head", session }),
    frames: (range) => thread.query({ type: "frames", range }),
    content: (hash) => thread.query({ type: "content", hash }),
    body: (key) => thread.query({ type: "body", key }),
    bodies: (session) => thread.query({ type: "bodies", session }),
    snapshot: (session) => thread.query({ type: "snapshot", session }),
    verify: (scope) => thread.query({ type: "verify", scope }),
    gc: () => thread.query({ type: "gc" }),
    backup: (target) =>
      thread.query({ type: "backup", path: typeof target === "string" ? resolve(target) : "" }),
    purge: (hashes) => thread.query({ type: "purge", hashes }),
    drop: (session) => thread.query({ type: "drop", session }),
    limitPages: async (pages) => {
      await thread.query({ type: "limit-pages", pages });
    },
    status: () => thread.status(),
    watch: (listener) => thread.watch(listener),
    flush: () => thread.flush(),
    close: () => thread.close(ending),
  };
}

/** Threads run compiled code. When this runs from sources, as in tests, that is the build in dist. */
function workerEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? "../../dist/store/store-worker.js" : "./store-worker.js", import.meta.url);
}
