import {
  type ApertureError,
  fail,
  isCount,
  ok,
  type Result,
  type StepId,
  type StreamId,
  seqOf,
  turnOf,
} from "../base/index.ts";
import {
  type Actor,
  type Cause,
  checkDraft,
  type Delta,
  type Frame,
  type FrameDraft,
  mayReverse,
  nextStep,
  now,
  reduce,
  reverse,
  type State,
  type Step,
  sealFrame,
  streamOf,
  toPagesInSlices,
  turnNow,
} from "../engine/index.ts";
import { type Loaded, loadState, type SessionPlace } from "./load.ts";
import { type Attached, Outbox } from "./outbox.ts";

/** What a caller wants appended. Seq, turn, time and hashes are not theirs to choose. */
export type Entry = {
  readonly stream: StreamId | null;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly deltas: readonly Delta[];
};

/** A frame on its way: part of the live state at once, durable when the promise says so. */
export type Recorded = { readonly frame: Frame; readonly durable: Promise<Result<void>> };

/**
 * One session, live: the state in memory and the frames on their way to the store. Nothing waits for a disk:
 * the state moves as soon as the store has accepted a frame. What it does not accept is refused by name, and
 * the state stays where it was.
 */
export type SessionLog = {
  readonly state: () => State;
  /** Why nothing more can be recorded until the session is opened again, or null. */
  readonly fault: () => ApertureError | null;
  readonly append: (entry: Entry, attached?: Attached) => Result<Recorded>;
  /** What becomes of the frames so far: they are written in order, so the last one speaks for all. */
  readonly durable: () => Promise<Result<void>>;
  /** Whether all of them are durable now: what is read of the store then is all there is. */
  readonly isDurable: () => boolean;
  /** Undoes a step that is done, redoes one that is undone. */
  readonly reverseStep: (step: StepId, actor: Actor) => Promise<Result<Recorded>>;
  readonly nextStep: () => StepId;
};

/** Snapshots are only there to open fast: a tail of this many frames is replayed in a few milliseconds. */
export const snapshotEveryFrames = 256;

/** Opens a session, or starts it if the store has none. */
export async function openSession(place: SessionPlace): Promise<Result<SessionLog>> {
  const loaded = await loadState(place);
  return loaded.ok ? ok(new LiveSession(place, loaded.value)) : loaded;
}

class LiveSession implements SessionLog {
  readonly #place: SessionPlace;
  readonly #outbox: Outbox;
  #state: State;
  #pageHashes: ReadonlySet<string>;
  #snapshotSeq: number;
  #durable: Promise<Result<void>> = Promise.resolve(ok(undefined));
  /** One at a time: each names pages that the one before has written. */
  #isSnapshotting = false;

  constructor(place: SessionPlace, loaded: Loaded) {
    this.#place = place;
    this.#outbox = new Outbox(place.store);
    this.#state = loaded.state;
    this.#pageHashes = loaded.pageHashes;
    this.#snapshotSeq = loaded.snapshotSeq;
  }

  state(): State {
    return this.#state;
  }

  fault(): ApertureError | null {
    return this.#outbox.fault;
  }

  durable(): Promise<Result<void>> {
    return this.#durable;
  }

  isDurable(): boolean {
    return this.#outbox.isConfirmed;
  }

  nextStep(): StepId {
    return nextStep(this.#state);
  }

  append(entry: Entry, attached: Attached = {}): Result<Recorded> {
    const draft = checkDraft(this.#draft(entry));
    if (!draft.ok) return draft;
    const frame = sealFrame(draft.value, this.#state.hash);
    const next = reduce(this.#state, frame);
    if (!next.ok) return next;
    const sent = this.#outbox.send(frame, attached);
    if (!sent.accepted) return { ok: false, error: sent.error };
    this.#state = next.value;
    this.#durable = sent.durable;
    const isDue = frame.seq - this.#snapshotSeq >= snapshotEveryFrames;
    if (isDue && !this.#isSnapshotting) void this.#writeSnapshot();
    return ok({ frame, durable: sent.durable });
  }

  #draft({ stream, actor, cause, deltas }: Entry): FrameDraft {
    const moment = now(this.#state);
    const known = isCount(stream) ? streamOf(moment, stream) : null;
    const turn = known === null ? turnOf(0) : turnNow(moment, known);
    const { session, clock } = this.#place;
    const seq = seqOf(moment.seq + 1);
    return { session, seq, stream, turn, time: clock.now(), actor, cause, deltas };
  }

  /**
   * In slices, so that nobody waits for it, and in a batch of its own: whatever becomes of it, no frame is
   * lost. If it fails, the next one brings every page.
   */
  async #writeSnapshot(): Promise<void> {
    this.#isSnapshotting = true;
    this.#snapshotSeq = this.#state.seq;
    const isWritten = await this.#snapshotWritten().catch(() => false);
    if (!isWritten) this.#pageHashes = new Set();
    this.#isSnapshotting = false;
  }

  async #snapshotWritten(): Promise<boolean> {
    const slices = toPagesInSlices(this.#state, this.#pageHashes);
    let slice = slices.next();
    for (; !slice.done; slice = slices.next()) await new Promise((resume) => setImmediate(resume));
    this.#pageHashes = new Set(slice.value.pageHashes);
    const appended = this.#place.store.append({ snapshots: [slice.value] });
    return appended.accepted && (await appended.durable).ok;
  }

  async reverseStep(id: StepId, actor: Actor): Promise<Result<Recorded>> {
    for (;;) {
      const step = this.#state.steps.get(id);
      if (step === undefined) return fail("AP_UNDO_NOTHING", { verb: "undo", step: id });
      if (!mayReverse(step, actor)) {
        return fail("AP_UNDO_LOCKED", { step: id, by: step.log.value.by, actor });
      }
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
      const waiting = this.#outbox.unconfirmed(seq);
      const range = { session, after: seq - 1, limit: 1 };
      const read = waiting === null ? await store.frames(range) : ok([waiting]);
      if (!read.ok) return read;
      const [frame] = read.value;
      if (frame?.seq !== seq) return fail("AP_STORE_GAP", { session, expected: seq, seq });
      frames.push(frame);
    }
    return ok(frames);
  }
}
