import {
  type ApertureError,
  type Clock,
  fail,
  isCount,
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
  checkDraft,
  type Delta,
  type Frame,
  type FrameDraft,
  sealFrame,
} from "../engine/frames/index.ts";
import {
  emptyState,
  mayReverse,
  reduce,
  replayFrames,
  reverse,
  type State,
  type Step,
  stateFromPages,
  stateToPagesInSlices,
} from "../engine/index.ts";
import { now, streamOf, turnNow } from "../engine/moment/index.ts";
import type { Snapshot, Store } from "../store/index.ts";
import { type FrameAttachments, Outbox } from "./outbox.ts";

/** A frame to append, as its caller writes it. The log adds seq, turn, time and hashes. */
export type FrameEntry = {
  readonly stream: StreamId | null;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly deltas: readonly Delta[];
};

/** An accepted frame: part of the live state at once, on disk when the promise resolves. */
export type AppendedFrame = { readonly frame: Frame; readonly durable: Promise<Result<void>> };

/**
 * One live session: its state in memory and its frames on their way to the store. Nothing waits for a disk:
 * the state changes as soon as the store accepts a frame. A frame it does not accept is refused with an error
 * code, and the state stays as it was.
 */
export type SessionLog = {
  readonly state: () => State;
  /** The error after which nothing can be recorded until the session is opened again, or null. */
  readonly fault: () => ApertureError | null;
  readonly append: (entry: FrameEntry, attached?: FrameAttachments) => Result<AppendedFrame>;
  /** Resolves when all frames so far are on disk: they are written in order, so the last one decides. */
  readonly durable: () => Promise<Result<void>>;
  /** True if all frames are on disk now, so that the store can be read instead of this log. */
  readonly isDurable: () => boolean;
  /** Undoes a step that is done, redoes one that is undone. */
  readonly reverseStep: (step: StepId, actor: Actor) => Promise<Result<AppendedFrame>>;
};

type SessionLogDeps = { readonly store: Store; readonly session: SessionId; readonly clock: Clock };

/** A state and the snapshot it was opened from, whose pages need not be written again. */
type LoadedState = {
  readonly state: State;
  readonly pageHashes: ReadonlySet<string>;
  readonly snapshotSeq: number;
};

export type ReverseVerb = "undo" | "redo";

/** Snapshots only make opening fast: this many frames are replayed in a few milliseconds. */
export const snapshotEveryFrames = 256;

/** Opens a session, or starts it if the store has none. */
export async function openSession(deps: SessionLogDeps): Promise<Result<SessionLog>> {
  const loaded = await loadState(deps);
  return loaded.ok ? ok(new OpenSessionLog(deps, loaded.value)) : loaded;
}

class OpenSessionLog implements SessionLog {
  readonly #deps: SessionLogDeps;
  readonly #outbox: Outbox;
  #state: State;
  #pageHashes: ReadonlySet<string>;
  #snapshotSeq: number;
  #durable: Promise<Result<void>> = Promise.resolve(ok(undefined));
  /** Snapshots are written one at a time: each refers to pages that the one before has written. */
  #isSnapshotting = false;

  constructor(deps: SessionLogDeps, loaded: LoadedState) {
    this.#deps = deps;
    this.#outbox = new Outbox(deps.store);
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

  append(entry: FrameEntry, attached: FrameAttachments = {}): Result<AppendedFrame> {
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

  #draft({ stream, actor, cause, deltas }: FrameEntry): FrameDraft {
    const moment = now(this.#state);
    const known = isCount(stream) ? streamOf(moment, stream) : null;
    const turn = known === null ? turnOf(0) : turnNow(moment, known);
    const { session, clock } = this.#deps;
    const seq = seqOf(moment.seq + 1);
    return { session, seq, stream, turn, time: clock.now(), actor, cause, deltas };
  }

  /**
   * Writes a snapshot in slices, so that other work is not held up, and in a batch of its own, so that no
   * frame is lost if it fails. After a failure the next snapshot writes every page.
   */
  async #writeSnapshot(): Promise<void> {
    this.#isSnapshotting = true;
    this.#snapshotSeq = this.#state.seq;
    const isWritten = await this.#saveSnapshot().catch(() => false);
    if (!isWritten) this.#pageHashes = new Set();
    this.#isSnapshotting = false;
  }

  async #saveSnapshot(): Promise<boolean> {
    const slices = stateToPagesInSlices(this.#state, this.#pageHashes);
    let slice = slices.next();
    for (; !slice.done; slice = slices.next()) await new Promise((resume) => setImmediate(resume));
    this.#pageHashes = new Set(slice.value.pageHashes);
    const appended = this.#deps.store.append({ snapshots: [slice.value] });
    return appended.accepted && (await appended.durable).ok;
  }

  async reverseStep(id: StepId, actor: Actor): Promise<Result<AppendedFrame>> {
    for (;;) {
      const step = this.#state.steps.get(id);
      if (step === undefined) return fail("AP_UNDO_NOTHING", { verb: "undo", step: id });
      if (!mayReverse(step, actor)) {
        return fail("AP_UNDO_LOCKED", { step: id, by: step.log.value.by, actor });
      }
      const frames = await this.#framesOf(step);
      if (!frames.ok) return frames;
      // The step may have been reversed while its frames were read: then start over.
      if (this.#state.steps.get(id)?.log !== step.log) continue;
      const deltas = reverse(this.#state, step, frames.value);
      if (!deltas.ok) return deltas;
      const type = step.log.value.done ? "undo" : "redo";
      const cause: Cause = { type, step: id, reason: step.reason };
      return this.append({ stream: step.stream, actor, cause, deltas: deltas.value });
    }
  }

  async #framesOf(step: Step): Promise<Result<readonly Frame[]>> {
    const { store, session } = this.#deps;
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

const framesPerRead = 1_000;

/** Loads the newest snapshot, then the frames after it. */
async function loadState(deps: SessionLogDeps): Promise<Result<LoadedState>> {
  const stored = await deps.store.snapshot(deps.session);
  if (!stored.ok) return stored;
  const loaded = stored.value === null ? null : await fromSnapshot(deps, stored.value);
  if (loaded?.ok) return loaded;
  // A snapshot only saves time: without one, or with a damaged one, all frames are replayed.
  const whole = await replayFrom(deps, emptyState(deps.session));
  return whole.ok ? ok({ state: whole.value, pageHashes: new Set(), snapshotSeq: 0 }) : whole;
}

async function fromSnapshot(deps: SessionLogDeps, snapshot: Snapshot): Promise<Result<LoadedState>> {
  const base = stateFromPages(snapshot);
  const state = base.ok ? await replayFrom(deps, base.value) : base;
  if (!state.ok) return state;
  const pageHashes = new Set(snapshot.pageHashes);
  return ok({ state: state.value, pageHashes, snapshotSeq: snapshot.seq });
}

async function replayFrom(deps: SessionLogDeps, base: State): Promise<Result<State>> {
  let state = base;
  for (;;) {
    const range = { session: deps.session, after: state.seq, limit: framesPerRead };
    const frames = await deps.store.frames(range);
    if (!frames.ok) return frames;
    const next = replayFrames(state, frames.value);
    if (!next.ok || frames.value.length === 0) return next;
    state = next.value;
  }
}
