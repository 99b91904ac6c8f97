import { limits } from "../base/index.ts";
import type { SessionRow } from "./answers/session-answers.ts";
import type { StateRow } from "./answers/state-answers.ts";
import type { QueryDeps } from "./queries.ts";

/** Facts that never change once known: the time of a frame, and the rows of a session as of a seq. */
export type QueryCache = {
  readonly times: LatestBySession<number>;
  readonly rows: LatestBySession<SessionRow>;
  /** Tokens reserved for the answer, by exchange; 0 if its request names no limit. */
  readonly reservedTokens: LatestBySession<number>;
  /** Keyed by all inputs of a state row. */
  readonly states: RecentValues<StateRow>;
};

/** One value per session, with the seq it belongs to. */
class LatestBySession<T> {
  readonly #values = new Map<string, { readonly seq: number; readonly value: T }>();

  get(session: string, seq: number): T | null {
    const found = this.#values.get(session);
    return found?.seq === seq ? found.value : null;
  }

  set(session: string, seq: number, value: T): void {
    // Deleting first moves the key to the end, so that the oldest key is the one evicted.
    this.#values.delete(session);
    this.#values.set(session, { seq, value });
    const [oldest] = this.#values.keys();
    if (this.#values.size > limits.rowsRememberedMax && oldest !== undefined) this.#values.delete(oldest);
  }
}

/** Keeps the last few values that were set. */
class RecentValues<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): T | null {
    return this.#values.get(key) ?? null;
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest);
  }
}

const caches = new WeakMap<QueryDeps, QueryCache>();

export function cacheOf(deps: QueryDeps): QueryCache {
  const existing = caches.get(deps);
  if (existing !== undefined) return existing;
  const cache = {
    times: new LatestBySession<number>(),
    rows: new LatestBySession<SessionRow>(),
    reservedTokens: new LatestBySession<number>(),
    states: new RecentValues<StateRow>(limits.statesRememberedMax),
  };
  caches.set(deps, cache);
  return cache;
}
