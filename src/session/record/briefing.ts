import { must, type ViewId } from "../../base/index.ts";
import { type Frame, now, type State, streamOf, turnNow, type View } from "../../engine/index.ts";
import { changesIn, manifestFacts } from "../../render/index.ts";
import type { Briefing } from "../desk-port.ts";
import { fillingOf, lastUsage } from "../read/window-row.ts";

/** A stream as the desk calls it, and how much its model's window holds. */
export type Briefed = { readonly line: string; readonly window: number };

/** More changes than these nobody reads. */
const newsMax = 200;

/** Keeps what a session's streams have to be told of, and tells it. */
export class Briefer {
  /** Frames whose changes the model may not have been told of. */
  #news: readonly Frame[] = [];
  readonly #briefed = new Map<ViewId, Briefed>();

  note(frame: Frame): void {
    this.#news = [...this.#news.slice(-newsMax), frame];
  }

  /** A request went up that told of everything up to a seq. */
  told(seq: number): void {
    this.#news = this.#news.filter((frame) => frame.seq > seq);
  }

  briefing(state: State, view: View, briefed: Briefed): Briefing {
    this.#briefed.set(view.id, briefed);
    return briefingOf(state, view, { ...briefed, news: this.#news });
  }

  /** Something has changed between two turns: everybody who was told before is told again. */
  again(state: State): readonly Briefing[] {
    return [...this.#briefed].flatMap(([id, briefed]) => {
      const view = state.views.get(id);
      return view === undefined ? [] : [briefingOf(state, view, { ...briefed, news: this.#news })];
    });
  }
}

type Told = Briefed & { readonly news: readonly Frame[] };

/** What the desk needs to know of a stream to tell its model about its context. */
function briefingOf(state: State, view: View, { line, window, news }: Told): Briefing {
  const moment = now(state);
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const usage = lastUsage(moment, view);
  const since = changesIn(news, moment, view.id);
  const facts = manifestFacts(moment, view, { window, used: 0, names: [], coldNames: [], since });
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
