import { ok, type Result } from "../base/index.ts";
import type { Shown } from "../engine/frames/index.ts";
import type { Stream, View } from "../engine/index.ts";
import { exchangesOf, type Moment, turnNow, type Zone } from "../engine/moment/index.ts";
import { modelIn, streamsOf, viewIn } from "../log/index.ts";
import { readStoredRequest } from "../protocols/index.ts";
import { lastUsage, type WindowRow, windowRow } from "../recorder/index.ts";
import type { BlockRow } from "./answers/block-answers.ts";
import type { SegmentRow, StateRow, ZoneRow } from "./answers/state-answers.ts";
import { blockRows } from "./block-row.ts";
import { chooseStream, streamRow } from "./choose-stream.ts";
import type { QueryDeps, StateQuery } from "./queries.ts";
import { cacheOf } from "./query-cache.ts";
import { noMarks, stripMarks } from "./strip-marks.ts";

export type StateRowDeps = {
  readonly windowOf: (model: string | null) => number | null;
  /** Tokens the client leaves for the answer; null or absent if not known. */
  readonly reserved?: number | null;
};

const zones: readonly Zone[] = ["primacy", "middle", "recency", "cold"];

export function stateRow(
  moment: Moment,
  requested: number | undefined,
  deps: StateRowDeps,
): Result<StateRow> {
  const chosen = chooseStream(moment, requested);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  const estimated = stream === null || view === null ? [] : blockRows(moment, stream, view);
  const model = modelIn(moment, stream);
  const usage = view === null ? null : lastUsage(moment, view);
  const window = windowRow({ usage, estimate: () => countedTokens(estimated), size: deps.windowOf(model) });
  const { reserved = null } = deps;
  const share = shareOf(estimated, window);
  const blocks = share === 1 ? estimated : estimated.map((row) => fitRow(row, share));
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
    streams: streamsOf(moment).map((each) => streamRow(moment, each)),
  });
}

/** A block that is not counted yet adds nothing, because a guess could be wrong. */
export function countedTokens(blocks: readonly BlockRow[]): number {
  return blocks.reduce((sum, { counted, tokens }) => sum + (counted ? (tokens ?? 0) : 0), 0);
}

/** Blocks never add up to more than the window: the provider counted that, block sizes are our estimates. */
function shareOf(blocks: readonly BlockRow[], window: WindowRow): number {
  const sum = countedTokens(blocks);
  return sum <= window.used ? 1 : window.used / sum;
}

/** The share for a single block, so that its detail has the same sizes as the list. */
export function fitShare(moment: Moment, stream: Stream, view: View): number {
  const usage = lastUsage(moment, view);
  if (usage === null) return 1;
  const rows = blockRows(moment, stream, view);
  return shareOf(rows, windowRow({ usage, estimate: () => 0, size: 0 }));
}

export function fitRow(row: BlockRow, share: number): BlockRow {
  if (!row.counted || row.tokens === null) return row;
  const shrunk = Object.entries(row.sizes).map(([level, tokens]) => [level, Math.floor(tokens * share)]);
  const sizes: BlockRow["sizes"] = Object.fromEntries(shrunk);
  return { ...row, tokens: Math.floor(row.tokens * share), sizes, exact: false };
}

function otherTokens(window: WindowRow, blocks: readonly BlockRow[]): number {
  return Math.max(0, window.used - countedTokens(blocks));
}

function stripOf(blocks: readonly BlockRow[]): readonly SegmentRow[] {
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

/** Blocks that the last request shows shorter than they are. */
function loweredOf(blocks: readonly BlockRow[]): StateRow["lowered"] {
  const lowered = blocks.filter(({ shown }) => shown !== "original" && shown !== "absent");
  const saved = lowered.map((row) => sizeAs(row, "original") - sizeAs(row, row.shown));
  return { tokens: saved.reduce((sum, tokens) => sum + tokens, 0), blocks: lowered.length };
}

/** Blocks that a rewrite will change. Both sizes are fitted, or a shorter text might seem to take more. */
function pendingOf(blocks: readonly BlockRow[]): StateRow["pending"] {
  const waiting = blocks.filter(({ pending }) => pending);
  const freed = waiting.map((row) => sizeAs(row, row.shown) - sizeAs(row, row.wanted));
  return { tokens: freed.reduce((sum, tokens) => sum + tokens, 0), blocks: waiting.length };
}

/** A placeholder is too small to count. */
function sizeAs({ sizes }: BlockRow, shown: Shown): number {
  if (shown === "placeholder" || shown === "absent") return 0;
  return sizes[shown] ?? sizes.original ?? 0;
}

/** The state with all its rows, or one page of them: readers show a first page, then load the rest. */
export async function stateAnswer(
  deps: QueryDeps,
  moment: Moment,
  { stream, from = 0, rows }: StateQuery,
): Promise<Result<StateRow>> {
  const whole = wholeState(deps, moment, { stream, reserved: await reservedTokens(deps, moment, stream) });
  if (!whole.ok) return whole;
  const { blocks } = whole.value;
  const limit = rows ?? blocks.length;
  return ok({ ...whole.value, head: moment.state.seq, blocks: blocks.slice(from, from + limit) });
}

/** The state as of a seq never changes, so it is made once for all pages. */
function wholeState(
  deps: QueryDeps,
  moment: Moment,
  { stream, reserved }: { readonly stream: number | undefined; readonly reserved: number | null },
): Result<StateRow> {
  const chosen = chooseStream(moment, stream);
  if (!chosen.ok) return chosen;
  const { states } = cacheOf(deps);
  const size = deps.windowOf(modelIn(moment, chosen.value));
  const key = [moment.state.session, moment.seq, chosen.value?.id, size, reserved].join(" ");
  const cached = states.get(key);
  if (cached !== null) return ok(cached);
  const row = stateRow(moment, stream, { windowOf: () => size, reserved });
  if (row.ok) states.set(key, row.value);
  return row;
}

/** The tokens that the stream's last request left for its answer; null if it named no limit. */
async function reservedTokens(
  deps: QueryDeps,
  moment: Moment,
  requested: number | undefined,
): Promise<number | null> {
  const chosen = chooseStream(moment, requested);
  const stream = chosen.ok ? chosen.value : null;
  const last = exchangesOf(moment).findLast(({ role, stream: of }) => role === "turn" && of === stream?.id);
  if (stream === null || last === undefined) return null;
  const { session } = moment.state;
  const { reservedTokens: reserved } = cacheOf(deps);
  const cached = reserved.get(session, last.id);
  if (cached !== null) return cached === 0 ? null : cached;
  const body = await deps.store.body({ session, exchange: last.id, side: "client-request" });
  // If the body is not stored yet, or no longer, only this mark is missing.
  if (!body.ok) return null;
  const tokens = readStoredRequest(body.value, last)?.answerTokensMax ?? 0;
  reserved.set(session, last.id, tokens);
  return tokens === 0 ? null : tokens;
}
