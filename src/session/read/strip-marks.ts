import { lastSent, type Moment, type Usage, type View } from "../../engine/index.ts";
import { forecastOf } from "../../tokens/index.ts";
import { rewritesAt } from "./rewrites.ts";
import type { StripMarks, WindowRow } from "./rows.ts";
import { fillingOf } from "./window-row.ts";

/** Turns a forecast is made from, and turns it is made for. */
const turnsBack = 8;
const turnsAhead = 5;

/**
 * How far before the end of the window a client starts to compact by itself: seen between 965k and 992k of
 * one million with Claude Code, which leaves 20k for its answer and 13k besides.
 */
const compactsBefore: Readonly<Record<string, number>> = { "claude-code": 33_000 };

export type MarksAsked = {
  readonly usage: Usage | null;
  readonly window: WindowRow;
  /** Tokens the client leaves for the answer; null: not known. */
  readonly reserved: number | null;
};

/** What the strip points at besides its blocks, in tokens from its left end. */
export function stripMarks(moment: Moment, view: View, { usage, window, reserved }: MarksAsked): StripMarks {
  const fillings = fillingsOf(moment, view);
  const forecast = forecastOf({ fillings, size: window.size, reserved: reserved ?? 0, turns: turnsAhead });
  return {
    cached: usage === null ? null : cachedIn(usage),
    changedFrom: changedFrom(moment, view),
    reserved,
    compactsAt: compactsAt(clientOf(moment), window.size),
    forecast,
  };
}

export const noMarks: StripMarks = {
  cached: null,
  changedFrom: null,
  reserved: null,
  compactsAt: null,
  forecast: null,
};

function cachedIn({ input, cacheRead, cacheWrite }: Usage): StripMarks["cached"] {
  const prompt = input + cacheRead + cacheWrite;
  return { tokens: cacheRead, share: prompt === 0 ? 0 : cacheRead / prompt };
}

/** Where the last request was written anew; null where it only went on. */
function changedFrom(moment: Moment, view: View): StripMarks["changedFrom"] {
  const last = lastSent(moment, view);
  const rewrite = last === null ? undefined : rewritesAt(moment).get(last.exchange);
  if (last === null || rewrite === undefined || rewrite.blocks.length === 0) return null;
  return { block: Math.min(...rewrite.blocks), exchange: last.exchange };
}

function clientOf({ state: { identity }, seq }: Moment): string | null {
  return identity !== null && identity.seq <= seq ? identity.client : null;
}

function compactsAt(client: string | null, size: number | null): number | null {
  const before = compactsBefore[client ?? ""];
  // In a window that small nobody knows what the client does.
  return before === undefined || size === null || size <= before * 2 ? null : size - before;
}

function fillingsOf(moment: Moment, view: View): readonly number[] {
  const fillings: number[] = [];
  for (let at = view.answers.size - 1; at >= 0 && fillings.length < turnsBack; at -= 1) {
    const answer = view.answers.get(at);
    const isKnown = answer !== undefined && answer.seq <= moment.seq && answer.outcome !== "failed";
    if (isKnown && answer.usage !== null) fillings.push(fillingOf(answer.usage));
  }
  return fillings.reverse();
}
