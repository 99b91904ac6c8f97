import { useEffect, useSyncExternalStore } from "react";
import { afterPaint } from "../base/after-paint.ts";
import { createStore, type Store } from "../base/store.ts";
import { CallError, read } from "./client.ts";

/** A response of the server. `data` stays while it is read again. */
export type Resource<T> = {
  readonly data: T | null;
  readonly error: CallError | null;
  readonly isLoading: boolean;
};

type Entry = {
  readonly store: Store<Resource<unknown>>;
  watchers: number;
  inFlight: boolean;
  /** A refresh was requested during a read, so another read follows. */
  isStale: boolean;
};

const unwatchedMax = 40;
const rereadMs = 60;
const nothing: Resource<unknown> = { data: null, error: null, isLoading: false };
const entries = new Map<string, Entry>();

/** Reads a path of the control API on mount and on every `refresh`. Null reads nothing. */
export function useResource<T>(path: string | null): Resource<T> {
  return useEntry(path, startRead);
}

/** The same for secondary data: it waits until the primary resources are read and painted. */
export function useDeferredResource<T>(path: string | null): Resource<T> {
  return useEntry(path, startDeferredRead);
}

type StartRead = (path: string, entry: Entry) => void;

function useEntry<T>(path: string | null, start: StartRead): Resource<T> {
  const entry = path === null ? null : entryOf(path);
  useEffect(() => {
    if (path === null || entry === null) return;
    entry.watchers += 1;
    start(path, entry);
    return () => {
      entry.watchers -= 1;
      trim();
    };
  }, [path, entry, start]);
  const store = entry?.store ?? empty;
  return useSyncExternalStore(store.watch, store.get) as Resource<T>;
}

/** A read in flight is new enough. */
function startRead(path: string, entry: Entry): void {
  if (!entry.inFlight) load(path, entry);
}

function startDeferredRead(path: string, entry: Entry): void {
  void whenIdle().then(() => {
    if (entry.watchers > 0) startRead(path, entry);
  });
}

let readsInFlight = 0;
const waiters: (() => void)[] = [];

/** Resolves when no read is in flight and the results are painted. */
async function whenIdle(): Promise<void> {
  // The other components of this render start their reads first.
  await Promise.resolve();
  if (readsInFlight > 0) await new Promise<void>((done) => waiters.push(done));
  await afterPaint();
}

const empty = createStore(nothing);

/** Starts a read before a component needs it. */
export function prefetch(path: string): void {
  startRead(path, entryOf(path));
}

/** Reads the watched resources below a path again and forgets the others. */
export function refresh(prefix: string): void {
  for (const [path, entry] of entries) {
    if (!path.startsWith(prefix)) continue;
    if (entry.watchers > 0) load(path, entry);
    else entries.delete(path);
  }
}

/** Sets a resource from the response of a write. */
export function setResource<T>(path: string, data: T): void {
  entryOf(path).store.set({ data, error: null, isLoading: false });
}

function entryOf(path: string): Entry {
  const known = entries.get(path);
  if (known !== undefined) return known;
  const entry: Entry = { store: createStore(nothing), watchers: 0, inFlight: false, isStale: false };
  entries.set(path, entry);
  return entry;
}

/** One read at a time: many refreshes during a read become one read after it. */
function load(path: string, entry: Entry): void {
  if (entry.inFlight) {
    entry.isStale = true;
    return;
  }
  entry.inFlight = true;
  entry.isStale = false;
  readsInFlight += 1;
  entry.store.set((before) => ({ ...before, isLoading: true }));
  void read<unknown>(path)
    .then((data) => entry.store.set({ data, error: null, isLoading: false }))
    .catch((error: unknown) => {
      const known = error instanceof CallError ? error : new CallError("unreadable", String(error), 0);
      entry.store.set((before) => ({ ...before, error: known, isLoading: false }));
    })
    .finally(() => {
      entry.inFlight = false;
      readsInFlight -= 1;
      if (readsInFlight === 0) for (const done of waiters.splice(0)) done();
      if (entry.isStale) setTimeout(() => load(path, entry), rereadMs);
    });
}

function trim(): void {
  const unwatched = [...entries].filter(([, { watchers }]) => watchers === 0);
  for (const [path] of unwatched.slice(0, Math.max(0, unwatched.length - unwatchedMax))) entries.delete(path);
}
