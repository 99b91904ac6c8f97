import { type StreamId, streamId, type ViewId, viewId } from "../base/index.ts";
import type { Delta, RecordedExchange } from "../engine/frames/index.ts";
import type { State, Stream, View } from "../engine/index.ts";
import { exchangesOf, type Moment, now, streamOf } from "../engine/moment/index.ts";

export function streamsOf(moment: Moment): readonly Stream[] {
  const streams = [...moment.state.streams.entries()].map(([, stream]) => stream);
  return streams.filter(({ openedSeq }) => openedSeq <= moment.seq);
}

/** The first view of a stream is the model's; others are those of agents that listen in. */
export function viewIn(moment: Moment, stream: Stream): View | null {
  for (const [, view] of moment.state.views.entries()) {
    if (view.stream === stream.id && view.openedSeq <= moment.seq) return view;
  }
  return null;
}

/**
 * The model of the last turn that names one, in this stream if possible. Side requests may use other models.
 */
export function modelIn(moment: Moment, stream: Stream | null): string | null {
  const turns = exchangesOf(moment).filter(({ role, model }) => role === "turn" && model !== null);
  const own = (exchange: RecordedExchange) => stream === null || exchange.stream === stream.id;
  return turns.findLast(own)?.model ?? turns.at(-1)?.model ?? null;
}

type NewStream = {
  readonly stream: StreamId;
  readonly view: ViewId;
  readonly deltas: readonly Delta[];
};

/** The next stream of a session and the view of its model, with the deltas that open both. */
export function newStream(state: State, name: string, parent: StreamId | null): NewStream {
  const stream = streamId(state.streams.size === 0 ? 1 : state.streams.size);
  const view = viewId(state.views.size === 0 ? 1 : state.views.size);
  const fork = parent === null ? null : streamOf(now(state), parent);
  const from = fork === null ? null : { stream: fork.id, seq: fork.openedSeq };
  return {
    stream,
    view,
    deltas: [
      { type: "stream-opened", stream, name, parent: from },
      { type: "view-opened", view, stream, agent: "model", parent: null },
    ],
  };
}
