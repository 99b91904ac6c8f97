import { must } from "../../base/index.ts";
import {
  type Frame,
  type Moment,
  now,
  type State,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import { changesIn, manifestFacts } from "../../render/index.ts";
import type { Briefing } from "../desk-port.ts";
import { fillingOf, lastUsage } from "../read/window-row.ts";

export type BriefingAsked = {
  /** What the desk calls the stream. */
  readonly line: string;
  readonly state: State;
  readonly view: View;
  /** Frames whose changes the model has not been told of. */
  readonly news: readonly Frame[];
  readonly window: number;
};

/** What the desk needs to know of a stream to tell its model about its context. */
export function briefingOf({ line, state, view, news, window }: BriefingAsked): Briefing {
  const moment: Moment = now(state);
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const usage = lastUsage(moment, view);
  const since = changesIn(news, moment, view.id);
  const asked = { window, names: [], coldNames: [], since };
  const facts = manifestFacts(moment, view, { ...asked, used: 0 });
  const { primacy, middle, recency } = facts;
  const used = usage === null ? primacy.tokens + middle.tokens + recency.tokens : fillingOf(usage);
  const size = Math.max(window, used);
  const exact = usage !== null;
  return {
    line,
    seq: state.seq,
    turn: turnNow(moment, stream),
    facts: { ...facts, used, window: size, exact, free: size - used },
  };
}
