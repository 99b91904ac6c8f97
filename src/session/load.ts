import type { Clock, Result, SessionId } from "../base/index.ts";
import { ok } from "../base/index.ts";
import { emptyState, fromPages, replay, type State } from "../engine/index.ts";
import type { Snapshot, Store } from "../store/index.ts";

export type SessionPlace = { readonly store: Store; readonly session: SessionId; readonly clock: Clock };

/** A state, and the snapshot it was opened from: its pages need not be written again. */
export type Loaded = {
  readonly state: State;
  readonly pageHashes: ReadonlySet<string>;
  readonly snapshotSeq: number;
};

const framesPerRead = 1_000;

/** The newest snapshot, then the frames after it. */
export async function loadState(place: SessionPlace): Promise<Result<Loaded>> {
  const stored = await place.store.snapshot(place.session);
  if (!stored.ok) return stored;
  const loaded = stored.value === null ? null : await fromSnapshot(place, stored.value);
  if (loaded?.ok) return loaded;
  // A snapshot only saves time. Without one, or with a damaged one, the frames tell the whole story.
  const whole = await replayFrom(place, emptyState(place.session));
  return whole.ok ? ok({ state: whole.value, pageHashes: new Set(), snapshotSeq: 0 }) : whole;
}

async function fromSnapshot(place: SessionPlace, snapshot: Snapshot): Promise<Result<Loaded>> {
  const base = fromPages(snapshot);
  const state = base.ok ? await replayFrom(place, base.value) : base;
  if (!state.ok) return state;
  const pageHashes = new Set(snapshot.pageHashes);
  return ok({ state: state.value, pageHashes, snapshotSeq: snapshot.seq });
}

async function replayFrom(place: SessionPlace, base: State): Promise<Result<State>> {
  let state = base;
  for (;;) {
    const range = { session: place.session, after: state.seq, limit: framesPerRead };
    const frames = await place.store.frames(range);
    if (!frames.ok) return frames;
    const next = replay(state, frames.value);
    if (!next.ok || frames.value.length === 0) return next;
    state = next.value;
  }
}
