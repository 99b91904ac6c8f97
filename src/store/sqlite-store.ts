import { resolve } from "node:path";
import type { FailPoint } from "./fail-points.ts";
import type { StoreLine } from "./messages.ts";
import type { Store } from "./store.ts";
import { ThreadHandle } from "./thread-handle.ts";
import { ThreadOwner } from "./thread-owner.ts";

export type SqliteStoreOptions = {
  /** The database file; it and its folder are made if they are not there. */
  readonly path: string;
  /** Caps the file, in pages of 4096 bytes; reaching it is a full disk. */
  readonly maxPages?: number;
  /** For tests of crashes. */
  readonly failPoint?: FailPoint;
};

export type SqliteStore = Store & {
  /** Changes the cap on the file; null lifts it. Recording that paused for it goes on by itself. */
  readonly limitPages: (maxPages: number | null) => Promise<void>;
};

/** The thread that has the database, for users on other threads than its owner's. */
export type SqliteThread = {
  /** To be handed to the user's thread with `transferList`; for one `joinSqliteStore`. */
  readonly line: () => StoreLine;
  /** Writes what it was sent, as far as it can, and ends. */
  readonly close: () => Promise<void>;
};

/**
 * Returns at once: the file is opened on a thread of its own, and what goes wrong with it is told by
 * `status`.
 */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const owner = ownerOf(options, false);
  const handle = new ThreadHandle(owner.line());
  return storeOver(handle, () => owner.close());
}

/**
 * Starts the same thread for others to join. It outlives them: what one of them has sent is written, also
 * when its thread ends in the middle of something. Work here can wait for work elsewhere.
 */
export function startSqliteThread(options: SqliteStoreOptions): SqliteThread {
  const owner = ownerOf(options, true);
  return { line: () => owner.line(), close: () => owner.close() };
}

/** A store over somebody else's thread. Closing it waits for what it has sent and leaves the thread alone. */
export function joinSqliteStore(line: StoreLine): SqliteStore {
  const handle = new ThreadHandle(line);
  return storeOver(handle, () => handle.flush());
}

function ownerOf({ path, maxPages, failPoint }: SqliteStoreOptions, isBackground: boolean): ThreadOwner {
  const rest = { maxPages: maxPages ?? null, failPoint: failPoint ?? null, isBackground };
  return new ThreadOwner({ path: resolve(path), ...rest }, workerEntry());
}

function storeOver(thread: ThreadHandle, ending: () => Promise<void>): SqliteStore {
  return {
    append: (batch) => thread.append(batch),
    sessions: () => thread.ask({ type: "sessions" }),
    head: (session) => thread.ask({ type: "head", session }),
    frames: (range) => thread.ask({ type: "frames", range }),
    content: (hash) => thread.ask({ type: "content", hash }),
    body: (key) => thread.ask({ type: "body", key }),
    bodies: (session) => thread.ask({ type: "bodies", session }),
    snapshot: (session) => thread.ask({ type: "snapshot", session }),
    verify: (scope) => thread.ask({ type: "verify", scope }),
    gc: () => thread.ask({ type: "gc" }),
    backup: (target) =>
      thread.ask({ type: "backup", path: typeof target === "string" ? resolve(target) : "" }),
    purge: (hashes) => thread.ask({ type: "purge", hashes }),
    drop: (session) => thread.ask({ type: "drop", session }),
    limitPages: async (pages) => {
      await thread.ask({ type: "limit-pages", pages });
    },
    status: () => thread.status(),
    watch: (listener) => thread.watch(listener),
    flush: () => thread.flush(),
    close: () => thread.close(ending),
  };
}

/** Threads run compiled code. From sources, as in tests, that is the build beside them. */
function workerEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? "../../dist/store/worker.js" : "./worker.js", import.meta.url);
}
