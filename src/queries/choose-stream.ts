import { fail, isCount, ok, type Result, streamId } from "../base/index.ts";
import type { RecordedExchange } from "../engine/frames/index.ts";
import type { Stream } from "../engine/index.ts";
import { exchangesOf, type Moment, streamOf, turnNow } from "../engine/moment/index.ts";
import { streamsOf, viewIn } from "../log/index.ts";
import type { StreamMode, StreamRow } from "./answers/session-answers.ts";

/** The requested stream, else the main one: the first that has a view. Null if there is none. */
export function chooseStream(moment: Moment, requested: number | undefined): Result<Stream | null> {
  if (requested === undefined) {
    const streams = streamsOf(moment);
    return ok(streams.find((stream) => viewIn(moment, stream) !== null) ?? streams[0] ?? null);
  }
  const stream = isCount(requested) ? streamOf(moment, streamId(requested)) : null;
  return stream === null ? fail("AP_STREAM_UNKNOWN", { stream: requested }) : ok(stream);
}

export function streamRow(moment: Moment, stream: Stream): StreamRow {
  const { id, name, parent } = stream;
  return { id, name, parent: parent?.stream ?? null, turns: turnNow(moment, stream) };
}

/** The mode of the last turn: in one stream, or in any. */
export function streamModeOf(moment: Moment, stream: Stream | null): StreamMode {
  const isOwn = (exchange: RecordedExchange) => stream === null || exchange.stream === stream.id;
  const last = exchangesOf(moment).findLast((exchange) => exchange.role === "turn" && isOwn(exchange));
  return last?.rendering === "managed" ? "auto" : "observe";
}
