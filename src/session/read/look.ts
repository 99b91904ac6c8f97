import { fail, isCount, ok, type Result, streamId } from "../../base/index.ts";
import {
  exchangesOf,
  type Moment,
  type RecordedExchange,
  type Stream,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import type { Mode, StreamRow } from "./rows.ts";

/** What most rows need to find first: the stream that is meant, its view, its model. */

export function streamsOf(moment: Moment): readonly Stream[] {
  const streams = [...moment.state.streams.entries()].map(([, stream]) => stream);
  return streams.filter(({ openedSeq }) => openedSeq <= moment.seq);
}

/** The stream asked for, else the main one: the first in which a model was. Null where there is none. */
export function chosenStream(moment: Moment, wanted: number | undefined): Result<Stream | null> {
  if (wanted === undefined) {
    const streams = streamsOf(moment);
    return ok(streams.find((stream) => viewIn(moment, stream) !== null) ?? streams[0] ?? null);
  }
  const stream = isCount(wanted) ? streamOf(moment, streamId(wanted)) : null;
  return stream === null ? fail("AP_STREAM_UNKNOWN", { stream: wanted }) : ok(stream);
}

/** The first view of a stream is the model's; others are those of agents that listen in. */
export function viewIn(moment: Moment, stream: Stream): View | null {
  for (const [, view] of moment.state.views.entries()) {
    if (view.stream === stream.id && view.openedSeq <= moment.seq) return view;
  }
  return null;
}

export function streamRow(moment: Moment, stream: Stream): StreamRow {
  const { id, name, parent } = stream;
  return { id, name, parent: parent?.stream ?? null, turns: turnNow(moment, stream) };
}

/** Of the last turn of this stream that named one; a side request may well use another. */
export function modelIn(moment: Moment, stream: Stream | null): string | null {
  const turns = exchangesOf(moment).filter(({ role, model }) => role === "turn" && model !== null);
  const own = (exchange: RecordedExchange) => stream === null || exchange.stream === stream.id;
  return turns.findLast(own)?.model ?? turns.at(-1)?.model ?? null;
}

/** How the last turn went up: of one stream, or of any. */
export function modeIn(moment: Moment, stream: Stream | null): Mode {
  const isOwn = (exchange: RecordedExchange) => stream === null || exchange.stream === stream.id;
  const last = exchangesOf(moment).findLast((exchange) => exchange.role === "turn" && isOwn(exchange));
  return last?.rendering === "managed" ? "auto" : "observe";
}
