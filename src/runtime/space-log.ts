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
import type { Actor, Cause, Delta, Frame, NextIds } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { type Moment, now } from "../engine/moment/index.ts";
import type { AppendedFrame, SessionLog } from "../log/index.ts";
import type { HashedContent } from "../store/index.ts";
import { ContentCache } from "./content-cache.ts";
import type { HoldableStore } from "./holdable-store.ts";

export type FrameInput = {
  readonly stream: StreamId | null;
  readonly actor: Actor;
  readonly cause: Cause["type"] | Cause;
  readonly deltas: readonly Delta[];
  readonly contents?: readonly HashedContent[];
};

type ReservedIds = { next: number; readonly end: number };

/** How many ids are reserved at a time for a stream. */
const idsPerReservation = 100;

/** The log of a space. Only the space writes to it, so the log also hands out the ids. */
export class SpaceLog {
  readonly store: HoldableStore;
  readonly contents: ContentCache;
  readonly #log: SessionLog;
  readonly #onFrame: (frame: Frame) => void;
  readonly #reserved = new Map<string, ReservedIds>();
  #last: Promise<unknown> = Promise.resolve();
  /**
   * Ends of the ranges that a draft has reserved in frames that are not appended yet; 0 if there are none.
   */
  #unlogged: NextIds = { block: 0, message: 0 };

  constructor(log: SessionLog, store: HoldableStore, onFrame: (frame: Frame) => void) {
    this.#log = log;
    this.store = store;
    this.contents = new ContentCache(store);
    this.#onFrame = onFrame;
  }

  state(): State {
    return this.#log.state();
  }

  moment(): Moment {
    return now(this.state());
  }

  append({ stream, actor, cause, deltas, contents = [] }: FrameInput): Result<AppendedFrame> {
    const fullCause = typeof cause === "string" ? { type: cause, step: null, reason: "" } : cause;
    const appended = this.#log.append({ stream, actor, cause: fullCause, deltas }, { contents });
    // The frame would have reserved ids: without the frame they are not reserved.
    if (!appended.ok) this.#reserved.clear();
    this.#unlogged = { block: 0, message: 0 };
    if (appended.ok) this.#onFrame(appended.value.frame);
    return appended;
  }

  /** Appends a frame and resolves when it is on the disk. */
  async appendDurably(input: FrameInput): Promise<Result<Frame>> {
    const appended = this.append(input);
    if (!appended.ok) return appended;
    const durable = await appended.value.durable;
    return durable.ok ? ok(appended.value.frame) : durable;
  }

  /** The frames after a seq, as they are stored; at most so many. */
  async framesAfter(after: number, limit: number): Promise<Result<readonly Frame[]>> {
    await this.store.flush();
    return await this.store.frames({ session: this.state().session, after, limit });
  }

  /** Runs actions one after the other, so that none writes between what another one reads and writes. */
  async runExclusively<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = before.then(act);
    this.#last = done.catch(() => undefined);
    return await done;
  }

  /** Undoes a step, or redoes a step that is undone. */
  async reverse(step: StepId): Promise<Result<void>> {
    const appended = await this.#log.reverseStep(step, "user");
    if (!appended.ok) return appended;
    this.#onFrame(appended.value.frame);
    return await appended.value.durable;
  }

  /** Forgets the reservations of a draft that was never appended: the log does not know them. */
  dropUnusedIds(): void {
    if (this.#unlogged.block + this.#unlogged.message > 0) this.#reserved.clear();
    this.#unlogged = { block: 0, message: 0 };
  }

  nextBlockId(stream: StreamId, deltas: Delta[]): BlockId {
    return blockId(this.#nextId(stream, "block", deltas));
  }

  nextMessageId(stream: StreamId, deltas: Delta[]): MessageId {
    return messageId(this.#nextId(stream, "message", deltas));
  }

  /** A free id. If a new range has to be reserved for it, the reservation is added to `deltas`. */
  #nextId(stream: StreamId, of: keyof NextIds, deltas: Delta[]): number {
    const key = `${of} ${stream}`;
    let ids = this.#reserved.get(key);
    if (ids === undefined || ids.next >= ids.end) {
      const from = Math.max(this.state().next[of], this.#unlogged[of]);
      ids = { next: from, end: from + idsPerReservation };
      this.#reserved.set(key, ids);
      this.#unlogged = { ...this.#unlogged, [of]: ids.end };
      deltas.push({ type: "ids-reserved", stream, of, from, to: ids.end });
    }
    ids.next += 1;
    return ids.next - 1;
  }
}
