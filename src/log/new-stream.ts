import { type StreamId, streamId, type ViewId, viewId } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { now, streamOf } from "../engine/moment/index.ts";

export type NewStream = {
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
