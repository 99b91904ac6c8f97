import type { ApertureError, Clock, Result, SessionId } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { Frame } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { openSession, type SessionLog } from "../session-log.ts";
import type { BodyMemory } from "./body-memory.ts";
import { LiveSession } from "./live-session.ts";

export type ShelfPlace = {
  readonly store: Store;
  readonly clock: Clock;
  readonly memory: BodyMemory;
  readonly heard: (frame: Frame) => void;
  /** A frame that was accepted could not be stored after all. */
  readonly lost: (session: SessionId, error: ApertureError) => void;
  /** Whether an answer to it is awaited: such a session stays. */
  readonly isBusy: (session: SessionId) => boolean;
};
type Opened = { readonly log: SessionLog; live: LiveSession | null };

/** Sessions kept open: reading one again from the store costs milliseconds, keeping it costs memory. */
const sessionsMax = 64;
const bodyBytesMax = 32 * 1024 * 1024;

/** Every session is open at most once, for whoever reads or records it; the longest unused leave first. */
export class Shelf {
  readonly #place: ShelfPlace;
  readonly #opened = new Map<SessionId, Opened>();
  readonly #opening = new Map<SessionId, Promise<Result<Opened>>>();

  constructor(place: ShelfPlace) {
    this.#place = place;
  }

  async log(session: SessionId): Promise<Result<SessionLog>> {
    const opened = await this.#open(session);
    return opened.ok ? ok(opened.value.log) : opened;
  }

  /** To record in. Requests left open by an earlier process are closed first. */
  async live(session: SessionId): Promise<Result<LiveSession>> {
    const opened = await this.#open(session);
    if (!opened.ok) return opened;
    if (opened.value.live === null) {
      const live = this.#livelyOn(session, opened.value.log);
      const closed = live.closeInterrupted();
      if (!closed.ok) return closed;
      opened.value.live = live;
    }
    return ok(opened.value.live);
  }

  /** Its log has grown by other hands: it is read again at its next use. */
  forget(session: SessionId): void {
    this.#opened.delete(session);
  }

  /** What is beside the log is made anew from it. A log that has ended is read again at its next use. */
  refresh(session: SessionId): void {
    const opened = this.#opened.get(session);
    if (opened === undefined) return;
    if (opened.log.fault() !== null) this.#opened.delete(session);
    else if (opened.live !== null) opened.live = this.#livelyOn(session, opened.log);
  }

  #livelyOn(session: SessionId, log: SessionLog): LiveSession {
    const { heard, lost, memory } = this.#place;
    return new LiveSession(log, { heard, lost: (error) => lost(session, error), memory });
  }

  async #open(session: SessionId): Promise<Result<Opened>> {
    const known = this.#opened.get(session);
    if (known !== undefined) {
      this.#opened.delete(session);
      this.#opened.set(session, known);
      return ok(known);
    }
    const opening = this.#opening.get(session) ?? this.#read(session);
    this.#opening.set(session, opening);
    const opened = await opening;
    this.#opening.delete(session);
    return opened;
  }

  async #read(session: SessionId): Promise<Result<Opened>> {
    const { store, clock } = this.#place;
    const log = await openSession({ store, session, clock });
    if (!log.ok) return log;
    const opened: Opened = { log: log.value, live: null };
    this.#opened.set(session, opened);
    this.#makeRoom(session);
    return ok(opened);
  }

  /** Bodies of sessions that have not been heard of lately are let go. */
  trim(): void {
    let kept = 0;
    for (const { live } of this.#opened.values()) kept += live?.keptBytes() ?? 0;
    if (kept <= bodyBytesMax) return;
    let left = bodyBytesMax;
    for (const { live } of [...this.#opened.values()].reverse()) {
      if (live === null) continue;
      left -= live.keptBytes();
      if (left < 0) live.forgetBodies();
    }
  }

  /** Memory runs out: only sessions that are awaited stay, without what makes their next request cheap. */
  shed(): void {
    for (const [session, opened] of [...this.#opened]) {
      if (this.#mayLeave(session, opened)) this.#opened.delete(session);
      else opened.live?.forgetBodies();
    }
  }

  /** One that has frames on their way would be read without them. */
  #mayLeave(session: SessionId, { log }: Opened): boolean {
    return !this.#place.isBusy(session) && log.isDurable();
  }

  /** Where all others are awaited, there are more than usual for a while. */
  #makeRoom(newest: SessionId): void {
    const idle = [...this.#opened].filter(([id, opened]) => id !== newest && this.#mayLeave(id, opened));
    for (const [session] of idle.slice(0, Math.max(0, this.#opened.size - sessionsMax))) {
      this.#opened.delete(session);
    }
  }
}

/** Looked at from the end: what is open was opened lately. */
export function hasOpenExchange(log: SessionLog): boolean {
  const { exchanges } = log.state();
  for (let at = exchanges.size - 1; at >= Math.max(0, exchanges.size - 64); at -= 1) {
    if (exchanges.get(at)?.end === null) return true;
  }
  return false;
}
