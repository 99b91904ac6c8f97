import {
  type BlockId,
  blockId,
  type MessageId,
  messageId,
  ok,
  type Result,
  type StepId,
  type StreamId,
} from "../base/index.ts";
import {
  type Actor,
  type Cause,
  type Delta,
  type Frame,
  type Moment,
  type NextIds,
  now,
  type State,
} from "../engine/index.ts";
import type { Recorded, SessionLog } from "../session/index.ts";
import type { Content } from "../store/index.ts";
import { Contents } from "./contents.ts";
import type { HeldStore } from "./held-store.ts";

/** What is appended as one frame. */
export type Noted = {
  readonly stream: StreamId | null;
  readonly actor: Actor;
  readonly cause: Cause["type"] | Cause;
  readonly deltas: readonly Delta[];
  readonly contents?: readonly Content[];
};

type Left = { next: number; readonly end: number };

/** Reserved at a time for a stream. */
const perReservation = 100;

/** The log of a space: it alone writes to it, so it also gives out the numbers. */
export class SpaceLog {
  readonly store: HeldStore;
  readonly contents: Contents;
  readonly #log: SessionLog;
  readonly #heard: (frame: Frame) => void;
  readonly #left = new Map<string, Left>();
  #last: Promise<unknown> = Promise.resolve();
  #unlogged: NextIds = { block: 0, message: 0 };

  constructor(log: SessionLog, store: HeldStore, heard: (frame: Frame) => void) {
    this.#log = log;
    this.store = store;
    this.contents = new Contents(store);
    this.#heard = heard;
  }

  state(): State {
    return this.#log.state();
  }

  moment(): Moment {
    return now(this.state());
  }

  append({ stream, actor, cause, deltas, contents = [] }: Noted): Result<Recorded> {
    const why = typeof cause === "string" ? { type: cause, step: null, reason: "" } : cause;
    const recorded = this.#log.append({ stream, actor, cause: why, deltas }, { contents });
    // Numbers that were to be reserved with it are not.
    if (!recorded.ok) this.#left.clear();
    this.#unlogged = { block: 0, message: 0 };
    if (recorded.ok) this.#heard(recorded.value.frame);
    return recorded;
  }

  /** The same, and nobody goes on before it is on the disk. */
  async appendDurably(noted: Noted): Promise<Result<Frame>> {
    const recorded = this.append(noted);
    if (!recorded.ok) return recorded;
    const durable = await recorded.value.durable;
    return durable.ok ? ok(recorded.value.frame) : durable;
  }

  /** One after the other: what looks, waits and then writes must not be written between by its like. */
  async exclusively<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = before.then(act);
    this.#last = done.catch(() => undefined);
    return await done;
  }

  /** Undoes a step that is done, redoes one that is undone. */
  async reverse(step: StepId): Promise<Result<void>> {
    const recorded = await this.#log.reverseStep(step, "user");
    if (!recorded.ok) return recorded;
    this.#heard(recorded.value.frame);
    return await recorded.value.durable;
  }

  /** A draft that came to nothing took its reservations with it: what it reserved nobody has. */
  forgetUnlogged(): void {
    if (this.#unlogged.block + this.#unlogged.message > 0) this.#left.clear();
    this.#unlogged = { block: 0, message: 0 };
  }

  blockFor(stream: StreamId, deltas: Delta[]): BlockId {
    return blockId(this.#take(stream, "block", deltas));
  }

  messageFor(stream: StreamId, deltas: Delta[]): MessageId {
    return messageId(this.#take(stream, "message", deltas));
  }

  /** A number nobody has; what reserves it goes into the frame it is used in. */
  #take(stream: StreamId, of: keyof NextIds, deltas: Delta[]): number {
    const key = `${of} ${stream}`;
    let left = this.#left.get(key);
    if (left === undefined || left.next >= left.end) {
      const from = Math.max(this.state().next[of], this.#unlogged[of]);
      left = { next: from, end: from + perReservation };
      this.#left.set(key, left);
      this.#unlogged = { ...this.#unlogged, [of]: left.end };
      deltas.push({ type: "ids-reserved", stream, of, from, to: left.end });
    }
    left.next += 1;
    return left.next - 1;
  }
}
