import { useSyncExternalStore } from "react";

/** A mutable value with change listeners. */
export type Store<T> = {
  readonly get: () => T;
  readonly set: (next: T | ((before: T) => T)) => void;
  readonly watch: (listener: () => void) => () => void;
};

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      const after = typeof next === "function" ? (next as (before: T) => T)(value) : next;
      if (Object.is(after, value)) return;
      value = after;
      for (const listener of listeners) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>({ watch, get }: Store<T>): T {
  return useSyncExternalStore(watch, get);
}
