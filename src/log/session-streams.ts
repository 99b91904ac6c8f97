import type { RecordedExchange } from "../engine/frames/index.ts";
import type { Stream, View } from "../engine/index.ts";
import { exchangesOf, type Moment } from "../engine/moment/index.ts";

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
