import type { ContentHash, SessionId } from "../base/index.ts";

export type SessionRow = {
  readonly id: number;
  readonly key: string;
  readonly seq: number;
  readonly hash: Uint8Array;
  /** When its newest frame was made: tells which sessions are recent, nothing else. */
  readonly time: number;
  readonly sum: number;
};
export type ContentShape = { readonly id: number; readonly length: number };
/** `leaves` and `depth` as in the row of a body. */
export type BodyShape = { readonly length: number; readonly depth: number; readonly leaves: number };
export type StoredBodyKey = { readonly session: number; readonly exchange: number; readonly side: number };

/** Of each kind; enough for what many sessions at a time come back to. */
const KEPT_MAX = 4_000;

/**
 * What a connection knows of the tables it writes, so that it need not ask for every piece of every recipe.
 * All of it is forgotten when it may be wrong: when somebody else has written, and when a transaction was
 * taken back or contents were swept.
 */
export class Remembered {
  readonly sessions = new Kept<SessionId, SessionRow>();
  readonly contents = new Kept<ContentHash, ContentShape>();
  readonly bodies = new Kept<string, BodyShape>();
  /** The largest number a content has; null if not known. */
  newestContent: number | null = null;
  #version: unknown = null;

  /** Contract: inside a transaction. `version` changes whenever another connection has written. */
  standAt(version: unknown): void {
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

/** The latest ones, bounded. */
class Kept<K, V> extends Map<K, V> {
  override set(key: K, value: V): this {
    if (this.size >= KEPT_MAX) this.clear();
    return super.set(key, value);
  }
}

export function bodyName({ session, exchange, side }: StoredBodyKey): string {
  return `${session} ${exchange} ${side}`;
}
