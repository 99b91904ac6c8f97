import { type ApertureError, type Clock, ok, type Result, type SessionId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import { openSession, type SessionLog } from "../log/index.ts";
import type { Store } from "../store/index.ts";
import type { BodyBufferPool } from "./body-buffer-pool.ts";
import { LiveSession } from "./live-session.ts";

export type SessionCacheDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly buffers: BodyBufferPool;
  readonly onFrame: (frame: Frame) => void;
  /** Called if a frame was accepted but could not be stored after all. */
  readonly onLost: (session: SessionId, error: ApertureError) => void;
  /** True if an answer of the session is awaited. Such a session stays in the cache. */
  readonly isBusy: (session: SessionId) => boolean;
};
type CachedSession = { readonly log: SessionLog; live: LiveSession | null };

/** Sessions kept open: reading one from the store again costs milliseconds, keeping it costs memory. */
const sessionsMax = 64;
const bodyBytesMax = 32 * 1024 * 1024;

/**
 * Opens each session at most once for all readers and the recorder. The least recently used are closed first.
 */
export class SessionCache {
  readonly #deps: SessionCacheDeps;
  readonly #sessions = new Map<SessionId, CachedSession>();
  readonly #opening = new Map<SessionId, Promise<Result<CachedSession>>>();

  constructor(deps: SessionCacheDeps) {
    this.#deps = deps;
  }

  async log(session: SessionId): Promise<Result<SessionLog>> {
    const opened = await this.#open(session);
    return opened.ok ? ok(opened.value.log) : opened;
  }

  /** Opens a session for recording. Requests left open by an earlier process are closed first. */
  async live(session: SessionId): Promise<Result<LiveSession>> {
    const opened = await this.#open(session);
    if (!opened.ok) return opened;
    if (opened.value.live === null) {
      const live = this.#newLiveSession(session, opened.value.log);
      const closed = live.closeInterrupted();
      if (!closed.ok) return closed;
      opened.value.live = live;
    }
    return ok(opened.value.live);
  }

  /** Drops a session that was changed from outside: its next use reads it again. */
  forget(session: SessionId): void {
    this.#sessions.delete(session);
  }

  /** Rebuilds the live session from its log. A log that has ended is read again at its next use. */
  refresh(session: SessionId): void {
    const opened = this.#sessions.get(session);
    if (opened === undefined) return;
    if (opened.log.fault() !== null) this.#sessions.delete(session);
    else if (opened.live !== null) opened.live = this.#newLiveSession(session, opened.log);
  }

  #newLiveSession(session: SessionId, log: SessionLog): LiveSession {
    const { onFrame, onLost, buffers } = this.#deps;
    return new LiveSession(log, { onFrame, onLost: (error) => onLost(session, error), buffers });
  }

  async #open(session: SessionId): Promise<Result<CachedSession>> {
    const known = this.#sessions.get(session);
    if (known !== undefined) {
      this.#sessions.delete(session);
      this.#sessions.set(session, known);
      return ok(known);
    }
    const opening = this.#opening.get(session) ?? this.#read(session);
    this.#opening.set(session, opening);
    const opened = await opening;
    this.#opening.delete(session);
    return opened;
  }

  async #read(session: SessionId): Promise<Result<CachedSession>> {
    const { store, clock } = this.#deps;
    const log = await openSession({ store, session, clock });
    if (!log.ok) return log;
    const opened: CachedSession = { log: log.value, live: null };
    this.#sessions.set(session, opened);
    this.#evictIdle(session);
    return ok(opened);
  }

  /** Drops the bodies of the least recently used sessions. */
  trimBodies(): void {
    let bytes = 0;
    for (const { live } of this.#sessions.values()) bytes += live?.bodyBytes() ?? 0;
    if (bytes <= bodyBytesMax) return;
    let left = bodyBytesMax;
    for (const { live } of [...this.#sessions.values()].reverse()) {
      if (live === null) continue;
      left -= live.bodyBytes();
      if (left < 0) live.forgetBodies();
    }
  }

  /** Closes all sessions but those with an awaited answer, and drops the bodies of those. For low memory. */
  freeMemory(): void {
    for (const [session, opened] of [...this.#sessions]) {
      if (this.#mayEvict(session, opened)) this.#sessions.delete(session);
      else opened.live?.forgetBodies();
    }
  }

  /** A session with unwritten frames stays: it would be read again without them. */
  #mayEvict(session: SessionId, { log }: CachedSession): boolean {
    return !this.#deps.isBusy(session) && log.isDurable();
  }

  /** If answers of all others are awaited, the cache exceeds its limit for a while. */
  #evictIdle(newest: SessionId): void {
    const idle = [...this.#sessions].filter(([id, opened]) => id !== newest && this.#mayEvict(id, opened));
    for (const [session] of idle.slice(0, Math.max(0, this.#sessions.size - sessionsMax))) {
      this.#sessions.delete(session);
    }
  }
}
