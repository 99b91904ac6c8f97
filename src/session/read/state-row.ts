import { ok, type Result } from "../../base/index.ts";
import { type Moment, type Shown, type Stream, turnNow, type View, type Zone } from "../../engine/index.ts";
import { blockRows } from "./block-row.ts";
import { chosenStream, modelIn, streamRow, streamsOf, viewIn } from "./look.ts";
import type { BlockRow, SegmentRow, StateRow, WindowRow, ZoneRow } from "./rows.ts";
import { noMarks, stripMarks } from "./strip-marks.ts";
import { lastUsage, windowRow } from "./window-row.ts";

export type Sizes = {
  readonly windowOf: (model: string | null) => number | null;
  /** Tokens the client leaves for the answer; null or absent: not known. */
  readonly reserved?: number | null;
};

const zones: readonly Zone[] = ["primacy", "middle", "recency", "cold"];

export function stateRow(moment: Moment, wanted: number | undefined, sizes: Sizes): Result<StateRow> {
  const chosen = chosenStream(moment, wanted);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  const estimated = stream === null || view === null ? [] : blockRows(moment, stream, view);
  const model = modelIn(moment, stream);
  const usage = view === null ? null : lastUsage(moment, view);
  const window = windowRow({ usage, estimate: () => countedTokens(estimated), size: sizes.windowOf(model) });
  const { reserved = null } = sizes;
  const share = shareOf(estimated, window);
  const blocks = share === 1 ? estimated : estimated.map((row) => fitted(row, share));
  return ok({
    session: moment.state.session,
    seq: moment.seq,
    head: moment.state.seq,
    stream: stream?.id ?? null,
    turn: stream === null ? 0 : turnNow(moment, stream),
    model,
    window,
    strip: stripOf(blocks),
    zones: zones.map((zone) => zoneRow(blocks, zone)),
    cold: coldOf(blocks),
    lowered: loweredOf(blocks),
    pending: pendingOf(blocks),
    otherTokens: otherTokens(window, blocks),
    marks: view === null ? noMarks : stripMarks(moment, view, { usage, window, reserved }),
    blocks,
    total: blocks.length,
    streams: streamsOf(moment).map((one) => streamRow(moment, one)),
  });
}

/** A count that was not made yet adds nothing, rather than a guess of ours. */
export function countedTokens(blocks: readonly BlockRow[]): number {
  return blocks.reduce((sum, { counted, tokens }) => sum + (counted ? (tokens ?? 0) : 0), 0);
}

/** The parts never add up to more than the whole: a provider has counted that, we have only guessed them. */
function shareOf(blocks: readonly BlockRow[], window: WindowRow): number {
  const sum = countedTokens(blocks);
  return sum <= window.used ? 1 : window.used / sum;
}

/** The same for those who look at one block: what a list says of its size, they say too. */
export function fitOf(moment: Moment, stream: Stream, view: View): number {
  const usage = lastUsage(moment, view);
  if (usage === null) return 1;
  const rows = blockRows(moment, stream, view);
  return shareOf(rows, windowRow({ usage, estimate: () => 0, size: 0 }));
}

export function fitted(row: BlockRow, share: number): BlockRow {
  if (!row.counted || row.tokens === null) return row;
  const shrunk = Object.entries(row.sizes).map(([level, tokens]) => [level, Math.floor(tokens * share)]);
  const sizes: BlockRow["sizes"] = Object.fromEntries(shrunk);
  return { ...row, tokens: Math.floor(row.tokens * share), sizes, exact: false };
}

function otherTokens(window: WindowRow, blocks: readonly BlockRow[]): number {
  return Math.max(0, window.used - countedTokens(blocks));
}

export function stripOf(blocks: readonly BlockRow[]): readonly SegmentRow[] {
  const strip: SegmentRow[] = [];
  for (const { zone, tokens, n } of blocks.filter(({ counted }) => counted)) {
    const last = strip.at(-1);
    const joins = last !== undefined && last.zone === zone;
    const before = joins ? strip.pop() : undefined;
    strip.push({
      zone,
      tokens: (before?.tokens ?? 0) + (tokens ?? 0),
      blocks: (before?.blocks ?? 0) + 1,
      from: before?.from ?? n,
      to: n,
    });
  }
  return strip;
}

function zoneRow(blocks: readonly BlockRow[], zone: Zone): ZoneRow {
  const own = blocks.filter((block) => block.counted && block.zone === zone);
  return { zone, tokens: countedTokens(own), blocks: own.length };
}

function coldOf(blocks: readonly BlockRow[]): StateRow["cold"] {
  const cold = blocks.filter(({ zone, counted }) => zone === "cold" && !counted);
  return { tokens: cold.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0), blocks: cold.length };
}

/** What the last request held less of than there is. */
function loweredOf(blocks: readonly BlockRow[]): StateRow["lowered"] {
  const lowered = blocks.filter(({ shown }) => shown !== "original" && shown !== "absent");
  const saved = lowered.map((row) => sizeAs(row, "original") - sizeAs(row, row.shown));
  return { tokens: saved.reduce((sum, tokens) => sum + tokens, 0), blocks: lowered.length };
}

/** What a rewrite will show otherwise: both sizes are fitted, or a shorter text might seem to take more. */
function pendingOf(blocks: readonly BlockRow[]): StateRow["pending"] {
  const waiting = blocks.filter(({ pending }) => pending);
  const freed = waiting.map((row) => sizeAs(row, row.shown) - sizeAs(row, row.wanted));
  return { tokens: freed.reduce((sum, tokens) => sum + tokens, 0), blocks: waiting.length };
}

/** What stands for a pruned block is too small to count. */
function sizeAs({ sizes }: BlockRow, shown: Shown): number {
  if (shown === "placeholder" || shown === "absent") return 0;
  return sizes[shown] ?? sizes.original ?? 0;
}
