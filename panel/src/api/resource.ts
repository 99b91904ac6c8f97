import { useEffect, useSyncExternalStore } from "react";
import { painted } from "../base/painted.ts";
import { createStore, type Store } from "../base/store.ts";
import { CallError, read } from "./client.ts";

/** Something the server has, as far as it was read. What was read stays while it is read again. */
export type Resource<T> = {
  readonly data: T | null;
  readonly error: CallError | null;
  readonly isLoading: boolean;
};

type Entry = {
  readonly store: Store<Resource<unknown>>;
  watchers: number;
  inFlight: boolean;
  /** Asked for again while it was being read. */
  isWanted: boolean;
};

const keptMax = 40;
const pauseMs = 60;
const nothing: Resource<unknown> = { data: null, error: null, isLoading: false };
const entries = new Map<string, Entry>();

/** Reads a path of the control API once it is looked at, and again when it is refreshed. Null: nothing. */
export function useResource<T>(path: string | null): Resource<T> {
  return useEntry(path, join);
}

/** The same for what is not looked at first: it waits until that was read and is on the screen. */
export function useLater<T>(path: string | null): Resource<T> {
  return useEntry(path, joinLater);
}

type Begin = (path: string, entry: Entry) => void;

function useEntry<T>(path: string | null, begin: Begin): Resource<T> {
  const entry = path === null ? null : entryOf(path);
  useEffect(() => {
    if (path === null || entry === null) return;
    entry.watchers += 1;
    begin(path, entry);
    return () => {
      entry.watchers -= 1;
      trim();
    };
  }, [path, entry, begin]);
  const store = entry?.store ?? empty;
  return useSyncExternalStore(store.watch, store.get) as Resource<T>;
}

/** What is just being read is as new as it could be. */
function join(path: string, entry: Entry): void {
  if (!entry.inFlight) load(path, entry);
}

function joinLater(path: string, entry: Entry): void {
  void calm().then(() => {
    if (entry.watchers > 0) join(path, entry);
  });
}

let readings = 0;
const waiters: (() => void)[] = [];

/** Resolves once nothing is being read, and what was read is on the screen. */
async function calm(): Promise<void> {
  // What is shown together begins to be read together.
  await Promise.resolve();
  if (readings > 0) await new Promise<void>((done) => waiters.push(done));
  await painted();
}

const empty = createStore(nothing);

/** Begins to read what will be looked at in a moment. */
export function prefetch(path: string): void {
  join(path, entryOf(path));
}

/** What is being looked at under this path is read again; the rest is forgotten. */
export function refresh(prefix: string): void {
  for (const [path, entry] of entries) {
    if (!path.startsWith(prefix)) continue;
    if (entry.watchers > 0) load(path, entry);
    else entries.delete(path);
  }
}

/** Puts an answer in place that came by another way, such as that of a write. */
export function put<T>(path: string, data: T): void {
  entryOf(path).store.set({ data, error: null, isLoading: false });
}

function entryOf(path: string): Entry {
  const known = entries.get(path);
  if (known !== undefined) return known;
  const entry: Entry = { store: createStore(nothing), watchers: 0, inFlight: false, isWanted: false };
  entries.set(path, entry);
  return entry;
}

/** One at a time: many frames in a row become one reading behind the one that is under way. */
function load(path: string, entry: Entry): void {
  if (entry.inFlight) {
    entry.isWanted = true;
    return;
  }
  entry.inFlight = true;
  entry.isWanted = false;
  readings += 1;
  entry.store.set((before) => ({ ...before, isLoading: true }));
  void read<unknown>(path)
    .then((data) => entry.store.set({ data, error: null, isLoading: false }))
    .catch((error: unknown) => {
      const known = error instanceof CallError ? error : new CallError("unreadable", String(error), 0);
      entry.store.set((before) => ({ ...before, error: known, isLoading: false }));
    })
    .finally(() => {
      entry.inFlight = false;
      readings -= 1;
      if (readings === 0) for (const done of waiters.splice(0)) done();
      if (entry.isWanted) setTimeout(() => load(path, entry), pauseMs);
    });
}

function trim(): void {
  const unwatched = [...entries].filter(([, { watchers }]) => watchers === 0);
  for (const [path] of unwatched.slice(0, Math.max(0, unwatched.length - keptMax))) entries.delete(path);
}
