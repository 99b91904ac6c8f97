import { ok, type Result } from "../../base/index.ts";
import { type Moment, type Shown, turnNow, type Zone } from "../../engine/index.ts";
import { blockRows } from "./block-row.ts";
import { chosenStream, modelIn, streamRow, streamsOf, viewIn } from "./look.ts";
import type { BlockRow, SegmentRow, StateRow, WindowRow, ZoneRow } from "./rows.ts";
import { lastUsage, windowRow } from "./window-row.ts";

export type Sizes = { readonly windowOf: (model: string | null) => number };

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
  const blocks = fitted(estimated, window);
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
    lowered: savedBy(blocks.filter(isLowered), ({ shown }) => ["original", shown]),
    pending: savedBy(
      blocks.filter(({ pending }) => pending),
      ({ shown, wanted }) => [shown, wanted],
    ),
    otherTokens: otherTokens(window, blocks),
    blocks,
    streams: streamsOf(moment).map((one) => streamRow(moment, one)),
  });
}

/** A count that was not made yet adds nothing, rather than a guess of ours. */
export function countedTokens(blocks: readonly BlockRow[]): number {
  return blocks.reduce((sum, { counted, tokens }) => sum + (counted ? (tokens ?? 0) : 0), 0);
}

/** The parts never add up to more than the whole: a provider has counted that, we have only guessed them. */
function fitted(blocks: readonly BlockRow[], window: WindowRow): readonly BlockRow[] {
  const sum = countedTokens(blocks);
  if (sum <= window.used) return blocks;
  const share = window.used / sum;
  return blocks.map((row) =>
    row.counted && row.tokens !== null
      ? { ...row, tokens: Math.floor(row.tokens * share), exact: false }
      : row,
  );
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

/** Whether the last request held less of a block than there is. */
function isLowered({ shown }: BlockRow): boolean {
  return shown !== "original" && shown !== "absent";
}

type FromTo = (block: BlockRow) => readonly [from: Shown, to: Shown];

function savedBy(blocks: readonly BlockRow[], fromTo: FromTo): StateRow["lowered"] {
  const tokens = blocks.reduce((sum, block) => {
    const [from, to] = fromTo(block);
    return sum + sizeAs(block, from) - sizeAs(block, to);
  }, 0);
  return { tokens, blocks: blocks.length };
}

/** What stands for a pruned block is too small to count. */
function sizeAs({ sizes }: BlockRow, shown: Shown): number {
  if (shown === "placeholder" || shown === "absent") return 0;
  return sizes[shown] ?? sizes.original ?? 0;
}
