import type { Usage } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import { lastSentTurn, type Moment } from "../engine/moment/index.ts";
import { type WindowRow, windowTokens } from "../recorder/index.ts";
import { forecastOf } from "../tokens/index.ts";
import type { StripMarks } from "./answers/state-answers.ts";
import { rewriteRows } from "./rewrite-rows.ts";

/** A forecast uses the last `turnsBack` turns and predicts `turnsAhead`. */
const turnsBack = 8;
const turnsAhead = 5;

/**
 * Tokens before the end of the window at which a client starts its own compaction. Claude Code did so between
 * 965k and 992k of one million: it leaves 20k for its answer and 13k besides.
 */
const compactsBefore: Readonly<Record<string, number>> = { "claude-code": 33_000 };

export type StripMarksInput = {
  readonly usage: Usage | null;
  readonly window: WindowRow;
  /** Tokens the client leaves for the answer; null if not known. */
  readonly reserved: number | null;
};

export function stripMarks(
  moment: Moment,
  view: View,
  { usage, window, reserved }: StripMarksInput,
): StripMarks {
  const sizes = promptSizes(moment, view);
  const forecast = forecastOf({
    fillings: sizes,
    size: window.size,
    reserved: reserved ?? 0,
    turns: turnsAhead,
  });
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

/** The first block that the last request rewrote; null if it only appended. */
function changedFrom(moment: Moment, view: View): StripMarks["changedFrom"] {
  const last = lastSentTurn(moment, view);
  const rewrite = last === null ? undefined : rewriteRows(moment).get(last.exchange);
  if (last === null || rewrite === undefined || rewrite.blocks.length === 0) return null;
  return { block: Math.min(...rewrite.blocks), exchange: last.exchange };
}

function clientOf({ state: { identity }, seq }: Moment): string | null {
  return identity !== null && identity.seq <= seq ? identity.client : null;
}

function compactsAt(client: string | null, size: number | null): number | null {
  const before = compactsBefore[client ?? ""];
  // It is not known what the client does in such a small window.
  return before === undefined || size === null || size <= before * 2 ? null : size - before;
}

function promptSizes(moment: Moment, view: View): readonly number[] {
  const sizes: number[] = [];
  for (let at = view.answers.size - 1; at >= 0 && sizes.length < turnsBack; at -= 1) {
    const answer = view.answers.get(at);
    const isKnown = answer !== undefined && answer.seq <= moment.seq && answer.outcome !== "failed";
    if (isKnown && answer.usage !== null) sizes.push(windowTokens(answer.usage));
  }
  return sizes.reverse();
}
