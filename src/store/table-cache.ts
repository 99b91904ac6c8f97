import type { ContentHash, SessionId } from "../base/index.ts";

export type StoredSession = {
  readonly id: number;
  readonly key: string;
  readonly seq: number;
  readonly hash: Uint8Array;
  /** The time of its newest frame; only used to find recent sessions. */
  readonly time: number;
  readonly sum: number;
};
export type ContentShape = { readonly id: number; readonly length: number };
/** `leaves` and `depth` as in the row of a body. */
export type BodyShape = { readonly length: number; readonly depth: number; readonly leaves: number };
export type StoredBodyKey = { readonly session: number; readonly exchange: number; readonly side: number };

/** Entries of each kind; enough for many concurrent sessions. */
const KEPT_MAX = 4_000;

/**
 * Rows a connection has read or written, so that it need not query for every piece of every recipe. All of
 * them are forgotten when they may be wrong: when another connection has written, and when a transaction was
 * rolled back or contents were swept.
 */
export class TableCache {
  readonly sessions = new BoundedMap<SessionId, StoredSession>();
  readonly contents = new BoundedMap<ContentHash, ContentShape>();
  readonly bodies = new BoundedMap<string, BodyShape>();
  /** The largest id of a content. Null if it is not known. */
  newestContent: number | null = null;
  #version: unknown = null;

  /** Contract: called inside a transaction. `version` changes whenever another connection has written. */
  checkVersion(version: unknown): void {
    if (version === this.#version) return;
    this.forget();
    this.#version = version;
  }

  forget(): void {
    this.sessions.clear();
    this.contents.clear();
    this.bodies.clear();
    this.newestContent = null;
  }
}

/** Empties itself when it is full. */
class BoundedMap<K, V> extends Map<K, V> {
  override set(key: K, value: V): this {
    if (this.size >= KEPT_MAX) this.clear();
    return super.set(key, value);
  }
}

export function bodyCacheKey({ session, exchange, side }: StoredBodyKey): string {
  return `${session} ${exchange} ${side}`;
}
