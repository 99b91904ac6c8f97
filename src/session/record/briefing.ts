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
import { changesIn, FactsTally } from "../../render/index.ts";
import type { Briefing } from "../desk-port.ts";
import { fillingOf, lastUsage } from "../read/window-row.ts";
import type { RecordedLine } from "./recorded-line.ts";

/** A stream as the desk calls it, and how much its model's window holds. */
export type Briefed = { readonly line: string; readonly window: number };

/** More changes than these nobody reads. */
const newsMax = 200;

/** Keeps what a session's streams have to be told of, and tells it. */
export class Briefer {
  /** Frames whose changes the model may not have been told of. */
  #news: readonly Frame[] = [];
  readonly #briefed = new Map<RecordedLine, Briefed & { readonly tally: FactsTally }>();

  note(frame: Frame): void {
    this.#news = [...this.#news.slice(-newsMax), frame];
  }

  /** A request went up that told of everything up to a seq. */
  told(seq: number): void {
    this.#news = this.#news.filter((frame) => frame.seq > seq);
  }

  briefing(state: State, line: RecordedLine, briefed: Briefed): Briefing {
    const tally = this.#briefed.get(line)?.tally ?? new FactsTally();
    this.#briefed.set(line, { ...briefed, tally });
    return briefingOf(state, line, { ...briefed, tally, news: this.#news });
  }

  /** Something has changed between two turns: everybody who was told before is told again. */
  again(state: State): readonly Briefing[] {
    return [...this.#briefed].map(([line, briefed]) =>
      briefingOf(state, line, { ...briefed, news: this.#news }),
    );
  }
}

type Told = Briefed & { readonly tally: FactsTally; readonly news: readonly Frame[] };

/** What the desk needs to know of a stream to tell its model about its context. */
function briefingOf(state: State, recorded: RecordedLine, told: Told): Briefing {
  const { line, window, tally, news } = told;
  const { index, sizes, names } = recorded;
  const moment = now(state);
  const view = must(state.views.get(index.view), "an index belongs to a view");
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const usage = lastUsage(moment, view);
  const budget = sizes.budget(window);
  const used = budget?.used ?? (usage === null ? shownTokens(tally, moment, view) : fillingOf(usage));
  const size = Math.max(window, used);
  const since = changesIn(news, moment, view.id);
  const room = { free: budget?.free ?? size - used, turnsLeft: budget?.turnsLeft ?? null };
  const turn = turnNow(moment, stream);
  const named = { names: [], needed: names.needed(turn + 1), coldNames: [] };
  const asked = { window: size, used, exact: usage !== null, ...room, ...named, since };
  const facts = tally.facts(moment, view, asked);
  return { line, seq: state.seq, turn, facts, rate: sizes.rate(), names: names.forHeader() };
}

/** For a stream whose provider has not counted yet. */
function shownTokens(tally: FactsTally, moment: Moment, view: View): number {
  const unsized = { window: null, used: 0, names: [], coldNames: [], since: [] };
  const { primacy, middle, recency } = tally.facts(moment, view, unsized);
  return primacy.tokens + middle.tokens + recency.tokens;
}
