import { fail, limits, ok, PagedTable, type Result } from "../base/index.ts";
import type { NextIds } from "./frames/block.ts";
import type { StreamDelta } from "./frames/delta.ts";
import { asOf, now, runNow, streamOf, turnNow, viewOf } from "./moment/moment.ts";
import type { ReservedRange, State, Stream, View } from "./state.ts";

type StreamDeltaOf<T extends StreamDelta["type"]> = Extract<StreamDelta, { type: T }>;

export function applyStreamOpened(state: State, delta: StreamDeltaOf<"stream-opened">): Result<State> {
  const { stream: id, parent } = delta;
  if (streamOf(now(state), id) !== null) return fail("AP_STREAM_EXISTS", { stream: id });
  if (id >= limits.streamsMax) {
    return fail("AP_FRAME_LIMIT", { seq: state.seq, limit: "streamsMax", actual: id });
  }
  const from = parent === null ? null : parentStream(state, delta);
  if (from !== null && !from.ok) return from;
  const stream: Stream = {
    id,
    name: delta.name,
    parent,
    depth: from === null ? 0 : from.value.depth + 1,
    openedSeq: state.seq,
    baseTurn: (from === null || parent === null
      ? 0
      : turnNow(asOf(now(state), parent.seq), from.value)) as Stream["baseTurn"],
    blocks: PagedTable.empty(),
    turns: PagedTable.empty(),
    runs: PagedTable.empty(),
    reserved: { block: [], message: [] },
    due: PagedTable.empty(),
  };
  return ok({ ...state, streams: state.streams.with(id, stream) });
}

function parentStream(state: State, delta: StreamDeltaOf<"stream-opened">): Result<Stream> {
  const { stream: parent, seq } = delta.parent ?? { stream: -1, seq: -1 };
  const refused = (problem: string) => fail("AP_FORK_INVALID", { parent, seq, problem });
  if (seq >= state.seq || seq < 0) return refused("a fork looks back, not ahead");
  const forkedFrom = streamOf({ state, seq: seq as State["seq"] }, parent as Stream["id"]);
  if (forkedFrom === null) return refused("there was no such stream then");
  if (forkedFrom.depth >= limits.forkDepthMax) return refused("forks are nested too deeply");
  return ok(forkedFrom);
}

export function applyViewOpened(state: State, delta: StreamDeltaOf<"view-opened">): Result<State> {
  const { view: id, stream: streamId, agent, parent } = delta;
  const stream = streamOf(now(state), streamId);
  if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: streamId });
  if (viewOf(now(state), id) !== null) return fail("AP_VIEW_EXISTS", { view: id });
  if (id >= limits.viewsMax) return fail("AP_FRAME_LIMIT", { seq: state.seq, limit: "viewsMax", actual: id });
  const from = parent === null ? null : parentView(state, delta, stream);
  if (from !== null && !from.ok) return from;
  const view: View = {
    id,
    stream: streamId,
    agent,
    parent,
    depth: from === null ? 0 : from.value.depth + 1,
    openedSeq: state.seq,
    facts: PagedTable.empty(),
    shown: PagedTable.empty(),
    sent: PagedTable.empty(),
    answers: PagedTable.empty(),
    epochs: PagedTable.empty(),
    due: PagedTable.empty(),
    permissions: PagedTable.empty(),
  };
  return ok({ ...state, views: state.views.with(id, view) });
}

/** A view takes over the facts of a view on its own stream, or on the parent of its stream at the fork. */
function parentView(state: State, delta: StreamDeltaOf<"view-opened">, stream: Stream): Result<View> {
  const { view: parent, seq } = delta.parent ?? { view: -1, seq: -1 };
  const refused = (problem: string) => fail("AP_FORK_INVALID", { parent, seq, problem });
  if (seq >= state.seq || seq < 0) return refused("a fork looks back, not ahead");
  const forkedFrom = viewOf({ state, seq: seq as State["seq"] }, parent as View["id"]);
  if (forkedFrom === null) return refused("there was no such view then");
  if (forkedFrom.depth >= limits.forkDepthMax) return refused("forks are nested too deeply");
  const atFork = forkedFrom.stream === stream.parent?.stream && seq === stream.parent.seq;
  if (forkedFrom.stream !== stream.id && !atFork) return refused("that view belongs to another stream");
  return ok(forkedFrom);
}

/** Ranges may be reserved in any order, since several writers number the blocks of a session; none twice. */
export function applyIdsReserved(state: State, delta: StreamDeltaOf<"ids-reserved">): Result<State> {
  const { stream: streamId, of, from, to } = delta;
  const stream = streamOf(now(state), streamId);
  if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: streamId });
  const next = state.next[of];
  const fits = from >= 1 && to > from && to - from <= limits.idsPerReservationMax && to <= limits.blocksMax;
  if (!fits || !areIdsFree(state, of, { from, to })) return fail("AP_IDS_INVALID", { from, to, next });
  const reserved = { ...stream.reserved, [of]: [...stream.reserved[of], { from, to }] };
  return ok({
    ...state,
    streams: state.streams.with(streamId, { ...stream, reserved }),
    next: { ...state.next, [of]: Math.max(next, to) },
  });
}

/** True if no stream has reserved any of these ids. */
export function areIdsFree(
  { next, streams }: State,
  of: keyof NextIds,
  { from, to }: ReservedRange,
): boolean {
  if (from >= next[of]) return true;
  for (const [, { reserved }] of streams.entries()) {
    if (reserved[of].some((range) => range.from < to && from < range.to)) return false;
  }
  return true;
}

export function applyRunStarted(state: State, delta: StreamDeltaOf<"run-started">): Result<State> {
  const stream = streamOf(now(state), delta.stream);
  if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: delta.stream });
  const { run } = runNow(now(state), stream);
  if (delta.from !== run || delta.to !== run + 1) {
    return fail("AP_RUN_INVALID", { run: delta.to, stream: delta.stream, next: run + 1 });
  }
  const runs = stream.runs.push({ seq: state.seq });
  return ok({ ...state, streams: state.streams.with(stream.id, { ...stream, runs }) });
}
