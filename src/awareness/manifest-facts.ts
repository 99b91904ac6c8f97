import { must } from "../base/index.ts";
import type { FactValues, Shown } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  attributesOf,
  factValue,
  isPinned,
  type Moment,
  streamOf,
  turnNow,
  wantedOf,
  type Zone,
} from "../engine/moment/index.ts";
import { type ArchiveCandidate, candidatesAmong, unusedRuns } from "./candidates.ts";
import type { Change } from "./change.ts";
import { type CountedBlock, countBlock, largest, speakerOf, tokensShown } from "./counted-block.ts";
import { type PrunedRange, rangesAmong, showableBlocks } from "./pruned-ranges.ts";

/** A block the user has highlighted. */
export type SelectedBlock = { readonly block: number; readonly name: string | null };

export type ZoneFacts = { readonly blocks: number; readonly tokens: number; readonly exact: boolean };
/** Blocks of a zone by speaker, and how many of them are shown shorter. */
export type ZoneCounts = {
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
  readonly trimmed: number;
  readonly summarized: number;
  readonly minimal: number;
};
/** A name with its approximate cost in a list. */
export type NeededName = { readonly name: string; readonly tokens: number };
export type NamedBlock = { readonly name: string; readonly tokens: number; readonly pin: FactValues["pin"] };
export type PendingTotal = { readonly blocks: number; readonly tokens: number };
export type ExpiringBlock = { readonly block: number; readonly at: number };
/** Everything a manifest says, as data. It comes from the state, never from an earlier manifest. */
export type ManifestFacts = {
  /** Blocks in the window; cold ones are not. */
  readonly blocks: number;
  readonly used: number;
  readonly window: number | null;
  readonly exact: boolean;
  readonly primacy: ZoneFacts & { readonly named: readonly NamedBlock[] };
  readonly middle: ZoneFacts &
    ZoneCounts & {
      /** In the whole window: changes that wait for a rewrite, and the tokens they will free. */
      readonly pending: PendingTotal;
      readonly names: readonly string[];
    };
  readonly recency: ZoneFacts & {
    /** Shown if one run is the whole window and the counts add up to the blocks. */
    readonly counts?: ZoneCounts;
    readonly task: string | null;
    readonly selected: readonly SelectedBlock[];
  };
  readonly cold: ZoneFacts & { readonly names: readonly string[] };
  readonly expiring: readonly ExpiringBlock[];
  readonly candidates: readonly ArchiveCandidate[];
  readonly changes: readonly Change[];
  readonly free: number | null;
  readonly turnsLeft: number | null;
  /** How many lowered blocks fit into half of the free tokens, whichever they are. */
  readonly expandable: number;
  readonly ranges: readonly PrunedRange[];
  /** Names out of sight that are likely to be needed, best first. */
  readonly needed: readonly NeededName[];
};

export type FactsInput = {
  readonly window: number | null;
  readonly used: number;
  readonly exact?: boolean;
  /** Default: the window less the used tokens. */
  readonly free?: number | null;
  readonly turnsLeft?: number | null;
  readonly task?: string | null;
  /** Names that describe the middle, best first. */
  readonly names: readonly string[];
  readonly needed?: readonly NeededName[];
  /** True if unused blocks are listed too: that reads every block. */
  readonly needsCandidates?: boolean;
  readonly coldNames: readonly string[];
  readonly since: readonly Change[];
};

/** Turns before an expiry at which it is announced. */
const expiryTurns = 5;

/** The turns whose expiries are announced in this one. */
export function soonTurns(turn: number): readonly number[] {
  return Array.from({ length: expiryTurns }, (_, at) => turn + 1 + at);
}

/** The sums of a zone. Blocks come and go, so each can be subtracted again. */
export type ZoneSum = { -readonly [F in keyof ZoneCounts]: number } & {
  blocks: number;
  tokens: number;
  /** Blocks whose tokens are estimated. */
  guessed: number;
};
/** A block that its ttl will lower in a turn to come, or would have lowered in one that passed. */
export type BlockExpiry = ExpiringBlock & { readonly tokens: number };
export type PendingSum = { blocks: number; shown: number; wanted: number };

/** The blocks of a view added up, before the facts are fitted to a query. */
export type ViewTally = {
  readonly turn: number;
  readonly zones: Readonly<Record<Zone, ZoneSum>>;
  readonly pending: PendingSum;
  /** In the order they came. */
  readonly primacy: readonly NamedBlock[];
  readonly selected: readonly SelectedBlock[];
  /** Expiries that are near, and perhaps later ones, in any order. */
  readonly expiries: readonly BlockExpiry[];
  /** Runs of neighbouring blocks that nothing refers to. Empty unless the query needs candidates. */
  readonly unused: readonly (readonly CountedBlock[])[];
  /** Tokens it takes to show each lowered block whole, largest first. */
  readonly gains: readonly number[];
  readonly ranges: readonly PrunedRange[];
};

/** Reads every block. A caller that asks repeatedly keeps a `FactsTally`, which gives the same facts. */
export function manifestFacts(moment: Moment, view: View, input: FactsInput): ManifestFacts {
  const places = showableBlocks(moment, view);
  const counted = places.flatMap((place) => countBlock(place) ?? []);
  const inWindow = counted.filter(({ zone }) => zone !== "cold");
  const zones = { primacy: emptySum(), middle: emptySum(), recency: emptySum(), cold: emptySum() };
  const pending = { blocks: 0, shown: 0, wanted: 0 };
  for (const one of counted) addToZone(zones[one.zone], one, 1);
  for (const one of inWindow) addToPending(pending, one, 1);
  const tally = {
    turn: turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream")),
    zones,
    pending,
    primacy: counted.filter(({ zone }) => zone === "primacy").map(namedBlock),
    selected: counted.filter(isSelected).map(selectedBlock),
    expiries: inWindow.flatMap((one) => expiryOf(one) ?? []),
    unused: input.needsCandidates === true ? unusedRuns(places) : [],
    gains: inWindow.flatMap((one) => gainOf(one) ?? []).sort((a, b) => b - a),
    ranges: rangesAmong(places),
  };
  return factsFromTally(tally, input);
}

export function factsFromTally(tally: ViewTally, input: FactsInput): ManifestFacts {
  const { zones, pending, selected, ranges } = tally;
  const { window, used, names, coldNames, since } = input;
  const shrink = shrinkFor(zones, used);
  const free = input.free === undefined ? (window === null ? null : Math.max(0, window - used)) : input.free;
  return {
    blocks: zones.primacy.blocks + zones.middle.blocks + zones.recency.blocks,
    used,
    window,
    exact: input.exact ?? false,
    primacy: { ...zoneFacts(zones.primacy, shrink), named: largest(tally.primacy.map(shrunkBy(shrink))) },
    middle: {
      ...zoneFacts(zones.middle, shrink),
      ...zoneCounts(zones.middle),
      pending: { blocks: pending.blocks, tokens: shrink(pending.shown) - pending.wanted },
      names,
    },
    recency: {
      ...zoneFacts(zones.recency, shrink),
      counts: zoneCounts(zones.recency),
      task: input.task ?? null,
      selected,
    },
    cold: { ...zoneFacts(zones.cold, whole), names: coldNames },
    expiring: expiringIn(tally.expiries.map(shrunkBy(shrink)), tally.turn),
    candidates: candidatesAmong(tally.unused.map((run) => run.map(shrunkBy(shrink)))),
    changes: since,
    free,
    turnsLeft: input.turnsLeft ?? null,
    expandable: expandableIn(tally.gains, free),
    ranges,
    needed: input.needed ?? [],
  };
}

type Shrink = (tokens: number) => number;
const whole: Shrink = (tokens) => tokens;

/** Scales the estimated parts so that they never exceed the whole, which the provider counted. */
function shrinkFor({ primacy, middle, recency }: ViewTally["zones"], used: number): Shrink {
  const sum = primacy.tokens + middle.tokens + recency.tokens;
  if (used === 0 || sum <= used) return whole;
  const share = used / sum;
  return (tokens) => Math.floor(tokens * share);
}

function shrunkBy(shrink: Shrink): <T extends { readonly tokens: number }>(one: T) => T {
  return (one) => (shrink === whole ? one : { ...one, tokens: shrink(one.tokens) });
}

export function emptySum(): ZoneSum {
  const counts = { user: 0, assistant: 0, tool: 0, trimmed: 0, summarized: 0, minimal: 0 };
  return { blocks: 0, tokens: 0, guessed: 0, ...counts };
}

/** Adds a block to a sum, or takes it away again. */
export function addToZone(
  sum: ZoneSum,
  { blockView: place, shown, tokens, exact }: CountedBlock,
  by: 1 | -1,
): void {
  sum.blocks += by;
  sum.tokens += by * tokens;
  sum.guessed += exact ? 0 : by;
  sum[speakerOf(place.block)] += by;
  if (isLowered(shown)) sum[shown] += by;
}

export function addToPending(
  sum: PendingSum,
  { blockView: place, shown, tokens }: CountedBlock,
  by: 1 | -1,
): void {
  const wanted = wantedOf(place);
  if (shown === "absent" || shown === wanted) return;
  const { count } = tokensShown(place.moment, place.block.id, wanted);
  // A small block of a pair has nothing shorter, and goes down with the rest by name only.
  if (count === tokens) return;
  sum.blocks += by;
  sum.shown += by * tokens;
  sum.wanted += by * count;
}

function zoneFacts({ blocks, tokens, guessed }: ZoneSum, shrink: Shrink): ZoneFacts {
  return { blocks, tokens: shrink(tokens), exact: blocks === 0 || (guessed === 0 && shrink === whole) };
}

function zoneCounts({ user, assistant, tool, trimmed, summarized, minimal }: ZoneSum): ZoneCounts {
  return { user, assistant, tool, trimmed, summarized, minimal };
}

export function namedBlock({ blockView: place, tokens }: CountedBlock): NamedBlock {
  const { id, kind } = place.block;
  const topic = attributesOf(place.moment, id)?.topics[0];
  const usual = kind === "system" ? "system prompt" : `#${id}`;
  // A command that changes a memory needs its number.
  const remembered = topic === undefined ? `memory #${id}` : `${topic} (#${id})`;
  return { name: kind === "memory" ? remembered : (topic ?? usual), tokens, pin: factValue(place, "pin") };
}

export function isSelected({ blockView: place }: CountedBlock): boolean {
  return factValue(place, "selection");
}

export function selectedBlock({ blockView: place }: CountedBlock): SelectedBlock {
  const { id } = place.block;
  return { block: id, name: attributesOf(place.moment, id)?.topics[0] ?? null };
}

/** Null if the block does not expire. */
export function expiryOf({ blockView: place, tokens }: CountedBlock): BlockExpiry | null {
  const ttl = factValue(place, "ttl");
  return ttl === null || isPinned(place) ? null : { block: place.block.id, at: ttl.at, tokens };
}

function expiringIn(ending: readonly BlockExpiry[], turn: number): readonly ExpiringBlock[] {
  const soon = soonTurns(turn);
  return ending
    .filter(({ at, tokens }) => tokens >= detailTokensMin && soon.includes(at))
    .map(({ block, at }) => ({ block, at }))
    .sort((a, b) => a.at - b.at || a.block - b.block);
}

function isLowered(shown: Shown): shown is "trimmed" | "summarized" | "minimal" {
  return shown === "trimmed" || shown === "summarized" || shown === "minimal";
}

/** Tokens it takes to show a lowered block whole: one estimate less another. Null if it is not lowered. */
export function gainOf({ blockView: place, shown, tokens }: CountedBlock): number | null {
  if (!isLowered(shown)) return null;
  return tokensShown(place.moment, place.block.id, "original").count - tokens;
}

function expandableIn(gains: readonly number[], free: number | null): number {
  let [room, count] = [(free ?? 0) / 2, 0];
  for (const gain of gains) {
    room -= gain;
    if (room >= 0) count += 1;
  }
  return count;
}

/** Smaller blocks are not worth the words about them. */
export const detailTokensMin = 2_000;
