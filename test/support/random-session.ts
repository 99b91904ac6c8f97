import fc from "fast-check";
import { seqOf, sessionId, streamId, turnOf, unwrap, viewId } from "../../src/base/index.ts";
import { type Frame, sealFrame } from "../../src/engine/frames/index.ts";
import { emptyState, reduce, type State, type Stream } from "../../src/engine/index.ts";
import { now, turnNow } from "../../src/engine/moment/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { acts, type Intent, pick, type Scene, verbs } from "./random-acts.ts";

/**
 * Random sessions that make sense. An intent is a verb and a few numbers; it is read against the live state,
 * so every intent leads to frames a real caller could have appended. New features add their verbs here.
 */

export const intent: fc.Arbitrary<Intent> = fc.record({
  verb: fc.constantFrom(...verbs),
  a: fc.nat(1_000),
  b: fc.nat(1_000),
  c: fc.nat(1_000),
});

export const intents = (maxLength: number): fc.Arbitrary<readonly Intent[]> =>
  fc.array(intent, { maxLength, minLength: 1, size: "max" });

export const testSession = sessionId("random-session");

export type History = { readonly frames: readonly Frame[]; readonly states: readonly State[] };

/** Runs the intents; `states[k]` is the live state after frame k, and `states[0]` the empty one. */
export function live(list: readonly Intent[], session = testSession): History {
  const frames: Frame[] = [];
  const states: State[] = [emptyState(session)];
  for (const entry of [opening, ...list.map((one) => (state: State) => entryFor(state, one, frames))]) {
    const state = states[states.length - 1] as State;
    const made = entry(state);
    if (made === null) continue;
    const frame = sealed(state, made);
    frames.push(frame);
    states.push(unwrap(reduce(state, frame)));
  }
  return { frames, states };
}

export function sealed(state: State, entry: FrameEntry): Frame {
  const seq = seqOf(state.seq + 1);
  const stream = entry.stream === null ? undefined : state.streams.get(entry.stream);
  const turn = stream === undefined ? turnOf(0) : turnNow(now(state), stream);
  return sealFrame(
    { ...entry, session: state.session, seq, turn, time: 1_700_000_000_000 + seq },
    state.hash,
  );
}

export const main = streamId(1);
export const mainView = viewId(1);

/** The first frame of every session: a stream, a view, and ids to work with. */
export function opening(): FrameEntry {
  return {
    stream: main,
    actor: "client",
    cause: { type: "session", step: null, reason: "" },
    deltas: [
      { type: "stream-opened", stream: main, name: "main", parent: null },
      { type: "view-opened", view: mainView, stream: main, agent: "model", parent: null },
      { type: "ids-reserved", stream: main, of: "block", from: 1, to: 101 },
      { type: "ids-reserved", stream: main, of: "message", from: 1, to: 101 },
    ],
  };
}

/** Null where the intent has nothing to work on, such as an undo with no step. */
export function entryFor(state: State, one: Intent, frames: readonly Frame[]): FrameEntry | null {
  const view = pick([...state.views.entries()], one.a)?.[1];
  if (view === undefined) return null;
  const stream = state.streams.get(view.stream) as Stream;
  const scene: Scene = { state, one, view, stream };
  return acts[one.verb](scene, frames);
}

export type { FrameEntry } from "../../src/log/session-log.ts";
