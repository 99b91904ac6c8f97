import { must } from "../base/index.ts";
import {
  factValue,
  isPinned,
  type Moment,
  notesOf,
  type Pin,
  type Shown,
  streamOf,
  turnNow,
  type View,
  wantedOf,
  type Zone,
} from "../engine/index.ts";
import { type Candidate, candidatesAmong, unusedRuns } from "./candidates.ts";
import { type Counted, countedAt, largest, speakerOf } from "./counted.ts";
import type { Change } from "./diff.ts";
import { detailTokensMin } from "./header.ts";
import { type PrunedRange, placesIn, rangesAmong } from "./range.ts";
import type { Selected } from "./selection.ts";
import { tokensShown } from "./shown-tokens.ts";

export type ZoneFacts = { readonly blocks: number; readonly tokens: number; readonly exact: boolean };
/** Who said what is there, and how much of it is shown as less than it was. */
export type ZoneCounts = {
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
  readonly trimmed: number;
  readonly summarized: number;
  readonly minimal: number;
};
/** A name, and about what it costs in a list. */
export type NeededName = { readonly name: string; readonly tokens: number };
export type NamedBlock = { readonly name: string; readonly tokens: number; readonly pin: Pin };
export type Pending = { readonly blocks: number; readonly tokens: number };
export type Expiring = { readonly block: number; readonly at: number };
/** All that a manifest says, as data: taken from the state, never from an earlier manifest. */
export type ManifestFacts = {
  /** Blocks in the window; cold ones are not. */
  readonly blocks: number;
  readonly used: number;
  readonly window: number | null;
  readonly exact: boolean;
  readonly primacy: ZoneFacts & { readonly named: readonly NamedBlock[] };
  readonly middle: ZoneFacts &
    ZoneCounts & {
      /** In the whole window: wanted and not yet shown, and what that will free. */
      readonly pending: Pending;
      readonly names: readonly string[];
    };
  readonly recency: ZoneFacts & {
    /** Told where one run is everything, as long as they add up to the blocks. */
    readonly counts?: ZoneCounts;
    readonly task: string | null;
    readonly selected: readonly Selected[];
  };
  readonly cold: ZoneFacts & { readonly names: readonly string[] };
  readonly expiring: readonly Expiring[];
  readonly candidates: readonly Candidate[];
  readonly changes: readonly Change[];
  readonly free: number | null;
  readonly turnsLeft: number | null;
  /** So many lowered blocks fit into half of what is free, whichever they are. */
  readonly expandable: number;
  readonly ranges: readonly PrunedRange[];
  /** Names out of sight that are likely to be needed, best first. */
  readonly needed: readonly NeededName[];
};

export type ManifestAsked = {
  readonly window: number | null;
  readonly used: number;
  readonly exact?: boolean;
  /** Left out, the window less what is used. */
  readonly free?: number | null;
  readonly turnsLeft?: number | null;
  readonly task?: string | null;
  /** What the middle is about, best first. */
  readonly names: readonly string[];
  readonly needed?: readonly NeededName[];
  /** Whether it is asked what nobody uses any more: that takes a look at every block. */
  readonly asksUnused?: boolean;
  readonly coldNames: readonly string[];
  readonly since: readonly Change[];
};

/** An expiry is announced so many turns ahead. */
const expiryTurns = 5;

/** The turns whose expiries are announced in this one. */
export function soonTurns(turn: number): readonly number[] {
  return Array.from({ length: expiryTurns }, (_, at) => turn + 1 + at);
}

/** A zone added up. What is in it comes and goes, so all of it can be taken away again. */
export type ZoneSum = { -readonly [F in keyof ZoneCounts]: number } & {
  blocks: number;
  tokens: number;
  /** How many are only estimated. */
  guessed: number;
};
/** A block that its ttl will lower in a turn to come, or would have lowered in one that passed. */
export type Ending = Expiring & { readonly tokens: number };
export type PendingSum = { blocks: number; shown: number; wanted: number };

/** What a manifest needs of the blocks of a view, before it is fitted to what was asked. */
export type Tallied = {
  readonly turn: number;
  readonly zones: Readonly<Record<Zone, ZoneSum>>;
  readonly pending: PendingSum;
  /** In the order they came. */
  readonly primacy: readonly NamedBlock[];
  readonly selected: readonly Selected[];
  /** What ends soon, and perhaps later, in any order. */
  readonly ending: readonly Ending[];
  /** What may be nobody's any more, neighbours together. Empty where nobody asks. */
  readonly unused: readonly (readonly Counted[])[];
  /** What it takes to show each lowered block as it was, largest first. */
  readonly gains: readonly number[];
  readonly ranges: readonly PrunedRange[];
};

/** Looks at every block. Whoever asks again and again keeps a `FactsTally`, which says the same. */
export function manifestFacts(moment: Moment, view: View, asked: ManifestAsked): ManifestFacts {
  const places = placesIn(moment, view);
  const counted = places.flatMap((place) => countedAt(place) ?? []);
  const inWindow = counted.filter(({ zone }) => zone !== "cold");
  const zones = { primacy: emptySum(), middle: emptySum(), recency: emptySum(), cold: emptySum() };
  const pending = { blocks: 0, shown: 0, wanted: 0 };
  for (const one of counted) addToZone(zones[one.zone], one, 1);
  for (const one of inWindow) addToPending(pending, one, 1);
  const tallied = {
    turn: turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream")),
    zones,
    pending,
    primacy: counted.filter(({ zone }) => zone === "primacy").map(namedBlock),
    selected: counted.filter(isSelected).map(selectedBlock),
    ending: inWindow.flatMap((one) => endingOf(one) ?? []),
    unused: asked.asksUnused === true ? unusedRuns(places) : [],
    gains: inWindow.flatMap((one) => gainOf(one) ?? []).sort((a, b) => b - a),
    ranges: rangesAmong(places),
  };
  return factsFrom(tallied, asked);
}

export function factsFrom(tallied: Tallied, asked: ManifestAsked): ManifestFacts {
  const { zones, pending, selected, ranges } = tallied;
  const { window, used, names, coldNames, since } = asked;
  const shrink = shrinkFor(zones, used);
  const free = asked.free === undefined ? (window === null ? null : Math.max(0, window - used)) : asked.free;
  return {
    blocks: zones.primacy.blocks + zones.middle.blocks + zones.recency.blocks,
    used,
    window,
    exact: asked.exact ?? false,
    primacy: { ...zoneFacts(zones.primacy, shrink), named: largest(tallied.primacy.map(shrunkBy(shrink))) },
    middle: {
      ...zoneFacts(zones.middle, shrink),
      ...zoneCounts(zones.middle),
      pending: { blocks: pending.blocks, tokens: shrink(pending.shown) - pending.wanted },
      names,
    },
    recency: {
      ...zoneFacts(zones.recency, shrink),
      counts: zoneCounts(zones.recency),
      task: asked.task ?? null,
      selected,
    },
    cold: { ...zoneFacts(zones.cold, whole), names: coldNames },
    expiring: expiringIn(tallied.ending.map(shrunkBy(shrink)), tallied.turn),
    candidates: candidatesAmong(tallied.unused.map((run) => run.map(shrunkBy(shrink)))),
    changes: since,
    free,
    turnsLeft: asked.turnsLeft ?? null,
    expandable: expandableIn(tallied.gains, free),
    ranges,
    needed: asked.needed ?? [],
  };
}

type Shrink = (tokens: number) => number;
const whole: Shrink = (tokens) => tokens;

/** The parts never add up to more than the whole: that was counted by a provider, they were estimated. */
function shrinkFor({ primacy, middle, recency }: Tallied["zones"], used: number): Shrink {
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
export function addToZone(sum: ZoneSum, { place, shown, tokens, exact }: Counted, by: 1 | -1): void {
  sum.blocks += by;
  sum.tokens += by * tokens;
  sum.guessed += exact ? 0 : by;
  sum[speakerOf(place.block)] += by;
  if (isLowered(shown)) sum[shown] += by;
}

export function addToPending(sum: PendingSum, { place, shown, tokens }: Counted, by: 1 | -1): void {
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

export function namedBlock({ place, tokens }: Counted): NamedBlock {
  const { id, kind } = place.block;
  const topic = notesOf(place.moment, id)?.topics[0];
  const usual = kind === "system" ? "system prompt" : `#${id}`;
  // Whoever may change a memory needs its number, too.
  const remembered = topic === undefined ? `memory #${id}` : `${topic} (#${id})`;
  return { name: kind === "memory" ? remembered : (topic ?? usual), tokens, pin: factValue(place, "pin") };
}

export function isSelected({ place }: Counted): boolean {
  return factValue(place, "selection");
}

export function selectedBlock({ place }: Counted): Selected {
  const { id } = place.block;
  return { block: id, name: notesOf(place.moment, id)?.topics[0] ?? null };
}

/** Null: nothing ends for it by itself. */
export function endingOf({ place, tokens }: Counted): Ending | null {
  const ttl = factValue(place, "ttl");
  return ttl === null || isPinned(place) ? null : { block: place.block.id, at: ttl.at, tokens };
}

function expiringIn(ending: readonly Ending[], turn: number): readonly Expiring[] {
  const soon = soonTurns(turn);
  return ending
    .filter(({ at, tokens }) => tokens >= detailTokensMin && soon.includes(at))
    .map(({ block, at }) => ({ block, at }))
    .sort((a, b) => a.at - b.at || a.block - b.block);
}

function isLowered(shown: Shown): shown is "trimmed" | "summarized" | "minimal" {
  return shown === "trimmed" || shown === "summarized" || shown === "minimal";
}

/** What it takes to show a lowered block as it was: one estimate less another. Null: it is not lowered. */
export function gainOf({ place, shown, tokens }: Counted): number | null {
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
