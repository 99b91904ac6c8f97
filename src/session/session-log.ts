import {
  type Clock,
  fail,
  ok,
  type Result,
  type SessionId,
  type StepId,
  type StreamId,
  seqOf,
  turnOf,
} from "../base/index.ts";
import {
  type Actor,
  type Cause,
  type Delta,
  emptyState,
  type Frame,
  type FrameDraft,
  fromPages,
  nextStep,
  now,
  reduce,
  replay,
  reverse,
  type State,
  type Step,
  sealFrame,
  streamOf,
  toPages,
  turnNow,
} from "../engine/index.ts";
import type { Batch, Store } from "../store/index.ts";

/** What a caller wants appended. Seq, turn, time and hashes are not theirs to choose. */
export type Entry = {
  readonly stream: StreamId | null;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly deltas: readonly Delta[];
};

/** What belongs to a frame and is written with it, or not at all. */
export type Attached = Pick<Batch, "contents" | "bodies">;

/** A frame on its way: part of the live state at once, durable when the promise says so. */
export type Recorded = { readonly frame: Frame; readonly durable: Promise<Result<void>> };

/**
 * One session, live: the state in memory and the frames on their way to the store. State moves first and
 * nothing waits for a disk; if the store refuses, the session goes on in memory and says so through
 * `durable`.
 */
export type SessionLog = {
  readonly state: () => State;
  readonly append: (entry: Entry, attached?: Attached) => Result<Recorded>;
  /** Undoes a step that is done, redoes one that is undone. */
  readonly reverseStep: (step: StepId, actor: Actor) => Promise<Result<Recorded>>;
  readonly nextStep: () => StepId;
};

/** Snapshots are only there to open fast: a tail of this many frames is replayed in a few milliseconds. */
export const snapshotEveryFrames = 256;
const framesPerRead = 1_000;

export type SessionPlace = { readonly store: Store; readonly session: SessionId; readonly clock: Clock };

/** Opens a session, or starts it if the store has none: the newest snapshot, then the frames after it. */
export async function openSession(place: SessionPlace): Promise<Result<SessionLog>> {
  const loaded = await loadState(place);
  return loaded.ok ? ok(new LiveSession(place, loaded.value)) : loaded;
}

type Loaded = {
  readonly state: State;
  readonly pageHashes: ReadonlySet<string>;
  readonly snapshotSeq: number;
};

async function loadState(place: SessionPlace): Promise<Result<Loaded>> {
  const stored = await place.store.snapshot(place.session);
  if (!stored.ok) return stored;
  const base = stored.value === null ? null : fromPages(stored.value);
  if (base?.ok && stored.value !== null) {
    const { seq, pageHashes } = stored.value;
    const tail = await replayFrom(place, base.value);
    if (tail.ok) return ok({ state: tail.value, pageHashes: new Set(pageHashes), snapshotSeq: seq });
  }
  // A snapshot only saves time. Without one, or with a damaged one, the frames tell the whole story.
  const whole = await replayFrom(place, emptyState(place.session));
  return whole.ok ? ok({ state: whole.value, pageHashes: new Set(), snapshotSeq: 0 }) : whole;
}

async function replayFrom(place: SessionPlace, base: State): Promise<Result<State>> {
  let state = base;
  for (;;) {
    const frames = await place.store.frames({
      session: place.session,
      after: state.seq,
      limit: framesPerRead,
    });
    if (!frames.ok) return frames;
    const next = replay(state, frames.value);
    if (!next.ok || frames.value.length === 0) return next;
    state = next.value;
  }
}

class LiveSession implements SessionLog {
  readonly #place: SessionPlace;
  #state: State;
  #pageHashes: ReadonlySet<string>;
  #snapshotSeq: number;
  /** Frames the store has not confirmed yet: undo must work while the disk does not. */
  readonly #unconfirmed = new Map<number, Frame>();

  constructor(place: SessionPlace, loaded: Loaded) {
    this.#place = place;
    this.#state = loaded.state;
    this.#pageHashes = loaded.pageHashes;
    this.#snapshotSeq = loaded.snapshotSeq;
  }

  state(): State {
    return this.#state;
  }

  nextStep(): StepId {
    return nextStep(this.#state);
  }

  append(entry: Entry, attached: Attached = {}): Result<Recorded> {
    const frame = sealFrame(this.#draft(entry), this.#state.hash);
    const next = reduce(this.#state, frame);
    if (!next.ok) return next;
    this.#state = next.value;
    const durable = this.#write(frame, attached);
    if (frame.seq - this.#snapshotSeq >= snapshotEveryFrames) void this.#writeSnapshot();
    return ok({ frame, durable });
  }

  #draft(entry: Entry): FrameDraft {
    const moment = now(this.#state);
    const stream = entry.stream === null ? null : streamOf(moment, entry.stream);
    const turn = stream === null ? turnOf(0) : turnNow(moment, stream);
    const { session, clock } = this.#place;
    return { ...entry, session, seq: seqOf(moment.seq + 1), turn, time: clock.now() };
  }

  async #write(frame: Frame, attached: Attached): Promise<Result<void>> {
    this.#unconfirmed.set(frame.seq, frame);
    const result = await appended(this.#place.store, { ...attached, frames: [frame] });
    if (result.ok) this.#unconfirmed.delete(frame.seq);
    return result;
  }

  /**
   * In a batch of its own: whatever becomes of it, no frame is lost. If it fails, the next one brings every
   * page.
   */
  async #writeSnapshot(): Promise<void> {
    const pages = toPages(this.#state, this.#pageHashes);
    this.#pageHashes = new Set(pages.pageHashes);
    this.#snapshotSeq = this.#state.seq;
    const result = await appended(this.#place.store, { snapshots: [pages] });
    if (!result.ok) this.#pageHashes = new Set();
  }

  async reverseStep(id: StepId, actor: Actor): Promise<Result<Recorded>> {
    for (;;) {
      const step = this.#state.steps.get(id);
      if (step === undefined) return fail("AP_UNDO_NOTHING", { verb: "undo", step: id });
      const frames = await this.#framesOf(step);
      if (!frames.ok) return frames;
      // While the frames were read someone else may have reversed the step: then look again.
      if (this.#state.steps.get(id)?.log !== step.log) continue;
      const deltas = reverse(this.#state, step, frames.value);
      if (!deltas.ok) return deltas;
      const type = step.log.value.done ? "undo" : "redo";
      const cause: Cause = { type, step: id, reason: step.reason };
      return this.append({ stream: step.stream, actor, cause, deltas: deltas.value });
    }
  }

  async #framesOf(step: Step): Promise<Result<readonly Frame[]>> {
    const { store, session } = this.#place;
    const frames: Frame[] = [];
    for (const seq of step.log.value.frames) {
      const waiting = this.#unconfirmed.get(seq);
      const read =
        waiting === undefined ? await store.frames({ session, after: seq - 1, limit: 1 }) : ok([waiting]);
      if (!read.ok) return read;
      frames.push(...read.value);
    }
    return ok(frames);
  }
}

function appended(store: Store, batch: Batch): Promise<Result<void>> {
  const answer = store.append(batch);
  return answer.accepted ? answer.durable : Promise.resolve(answer.refused);
}
