import { must } from "../base/index.ts";
import {
  type AddedBlock,
  factValue,
  isPinned,
  isWithheld,
  lastSent,
  lifecycleOf,
  type Moment,
  notesOf,
  type Pin,
  type Place,
  type Shown,
  shownOf,
  streamOf,
  turnNow,
  type View,
  wantedOf,
  type Zone,
  zoneOf,
} from "../engine/index.ts";
import type { Change } from "./diff.ts";
import { detailTokensMin } from "./header.ts";
import { spanOf } from "./numbers.ts";
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
/** A name, and what it costs in a list. Exact: counted, not estimated. */
export type NeededName = { readonly name: string; readonly tokens: number; readonly exact: boolean };
export type NamedBlock = { readonly name: string; readonly tokens: number; readonly pin: Pin };
export type Pending = { readonly blocks: number; readonly tokens: number };
export type Expiring = { readonly block: number; readonly at: number };
/** Neighbouring blocks that nobody referred to for a while. */
export type Candidate = {
  readonly from: number;
  readonly to: number;
  readonly what: string;
  readonly tokens: number;
  readonly since: number;
};

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
  /** Whether somebody notes what the model refers to. Otherwise nobody knows what was not used. */
  readonly seesReferences?: boolean;
  readonly coldNames: readonly string[];
  readonly since: readonly Change[];
};

/** An expiry is announced so many turns ahead. */
const expiryTurns = 5;
const candidateTokensMin = 1_000;
const listMax = 12;

/** A block as the manifest counts it. */
type Counted = {
  readonly place: Place;
  readonly zone: Zone;
  readonly shown: Shown;
  readonly tokens: number;
  readonly exact: boolean;
};

export function manifestFacts(moment: Moment, view: View, asked: ManifestAsked): ManifestFacts {
  const places = placesIn(moment, view);
  const counted = fitted(
    places.flatMap((place) => countedAt(place) ?? []),
    asked.used,
  );
  const inWindow = counted.filter(({ zone }) => zone !== "cold");
  const middle = counted.filter(({ zone }) => zone === "middle");
  const primacy = counted.filter(({ zone }) => zone === "primacy");
  const recency = counted.filter(({ zone }) => zone === "recency");
  const cold = counted.filter(({ zone }) => zone === "cold");
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const { window, used, names, coldNames, since } = asked;
  const free = asked.free === undefined ? (window === null ? null : Math.max(0, window - used)) : asked.free;
  return {
    blocks: inWindow.length,
    used,
    window,
    exact: asked.exact ?? false,
    primacy: { ...zoneFacts(primacy), named: largest(primacy).map(namedBlock) },
    middle: { ...zoneFacts(middle), ...zoneCounts(middle), pending: pendingIn(inWindow), names },
    recency: {
      ...zoneFacts(recency),
      counts: zoneCounts(recency),
      task: asked.task ?? null,
      selected: selectedIn(counted),
    },
    cold: { ...zoneFacts(cold), names: coldNames },
    expiring: expiringIn(inWindow, turn),
    candidates: asked.seesReferences === true ? candidatesIn(inWindow) : [],
    changes: since,
    free,
    turnsLeft: asked.turnsLeft ?? null,
    expandable: expandableIn(inWindow, free),
    ranges: rangesAmong(places),
    needed: asked.needed ?? [],
  };
}

function countedAt(place: Place): Counted | null {
  const { moment, view, block } = place;
  const { id } = block;
  const shown = shownOf(moment, view, id);
  const zone = zoneOf(place);
  const isCold = zone === "cold" && (shown === "placeholder" || shown === "absent");
  if (isCold) {
    const { count, exact } = tokensShown(moment, id, "original");
    return { place, zone, shown, tokens: count, exact };
  }
  if (shown === "absent" && !isNew(place)) return null;
  const { count, exact } = tokensShown(moment, id, shown === "absent" ? "original" : shown);
  // Archived and still shown: it takes its room until the next rewrite, where it stands.
  return { place, zone: zone === "cold" ? "middle" : zone, shown, tokens: count, exact };
}

/** The parts never add up to more than the whole: that was counted by a provider, they were estimated. */
function fitted(counted: readonly Counted[], used: number): readonly Counted[] {
  const sum = counted.reduce((all, { zone, tokens }) => all + (zone === "cold" ? 0 : tokens), 0);
  if (used === 0 || sum <= used) return counted;
  const share = used / sum;
  return counted.map((one) =>
    one.zone === "cold" ? one : { ...one, tokens: Math.floor(one.tokens * share), exact: false },
  );
}

/** Not sent yet, and about to be. */
function isNew(place: Place): boolean {
  const sentSeq = lastSent(place.moment, place.view)?.seq ?? 0;
  return place.block.addedSeq > sentSeq && place.block.stream === place.view.stream && !isWithheld(place);
}

function zoneFacts(counted: readonly Counted[]): ZoneFacts {
  return {
    blocks: counted.length,
    tokens: tokensIn(counted),
    exact: counted.every(({ exact }) => exact),
  };
}

function tokensIn(counted: readonly Counted[]): number {
  return counted.reduce((sum, { tokens }) => sum + tokens, 0);
}

function largest(counted: readonly Counted[]): readonly Counted[] {
  return [...counted].sort((a, b) => b.tokens - a.tokens).slice(0, listMax);
}

function namedBlock({ place, tokens }: Counted): NamedBlock {
  const topic = notesOf(place.moment, place.block.id)?.topics[0];
  const usual = place.block.kind === "system" ? "system prompt" : `#${place.block.id}`;
  return { name: topic ?? usual, tokens, pin: factValue(place, "pin") };
}

function zoneCounts(counted: readonly Counted[]): ZoneCounts {
  const speakers = counted.map(({ place }) => speakerOf(place.block));
  const count = <T>(list: readonly T[], wanted: T): number => list.filter((one) => one === wanted).length;
  const shown = counted.map((one) => one.shown);
  return {
    user: count(speakers, "user"),
    assistant: count(speakers, "assistant"),
    tool: count(speakers, "tool"),
    trimmed: count(shown, "trimmed"),
    summarized: count(shown, "summarized"),
    minimal: count(shown, "minimal"),
  };
}

function speakerOf({ kind, taint }: AddedBlock): "user" | "assistant" | "tool" {
  if (kind === "assistant" || kind === "reasoning") return "assistant";
  if (kind === "tool-call" || kind === "tool-result") return "tool";
  return kind === "media" && taint === "untrusted" ? "tool" : "user";
}

function selectedIn(counted: readonly Counted[]): readonly Selected[] {
  return counted
    .filter(({ place }) => factValue(place, "selection"))
    .map(({ place }) => ({
      block: place.block.id,
      name: notesOf(place.moment, place.block.id)?.topics[0] ?? null,
    }));
}

function pendingIn(counted: readonly Counted[]): Pending {
  const freed = counted.flatMap(({ place, shown, tokens }) => {
    const wanted = wantedOf(place);
    if (shown === "absent" || shown === wanted) return [];
    return [tokens - tokensShown(place.moment, place.block.id, wanted).count];
  });
  return { blocks: freed.length, tokens: freed.reduce((sum, one) => sum + one, 0) };
}

function expiringIn(counted: readonly Counted[], turn: number): readonly Expiring[] {
  return counted
    .filter(({ tokens }) => tokens >= detailTokensMin)
    .flatMap(({ place }) => {
      const ttl = factValue(place, "ttl");
      const isSoon = ttl !== null && ttl.at > turn && ttl.at - turn <= expiryTurns;
      return isSoon && !isPinned(place) ? [{ block: place.block.id as number, at: ttl.at as number }] : [];
    })
    .sort((a, b) => a.at - b.at || a.block - b.block);
}

/** Neighbours are put together; what a user said is not offered, since only the user may let it go. */
function candidatesIn(inWindow: readonly Counted[]): readonly Candidate[] {
  const runs: Counted[][] = [];
  let wasCandidate = false;
  for (const counted of inWindow) {
    const isOne = isCandidate(counted);
    if (isOne && wasCandidate) runs.at(-1)?.push(counted);
    else if (isOne) runs.push([counted]);
    wasCandidate = isOne;
  }
  return runs
    .map((run) => ({ run, tokens: tokensIn(run) }))
    .filter(({ tokens }) => tokens >= candidateTokensMin)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, listMax)
    .map(({ run }) => candidateOf(run));
}

/** A long run is all recency, so what counts is that nobody refers to a block, not where it stands. */
function isCandidate({ place, zone }: Counted): boolean {
  if (zone === "primacy" || speakerOf(place.block) === "user") return false;
  return lifecycleOf(place) === "stale" && !isPinned(place) && !factValue(place, "selection");
}

function candidateOf(run: readonly Counted[]): Candidate {
  const [main] = largest(run);
  const { place } = must(main, "a run has blocks");
  return {
    ...spanOf(run.map(({ place }) => place.block.id)),
    what: notesOf(place.moment, place.block.id)?.topics[0] ?? usualName(place.block),
    tokens: tokensIn(run),
    since: spanOf(run.map((one) => factValue(one.place, "reference").turn)).to,
  };
}

function usualName(block: AddedBlock): string {
  if (block.kind === "reasoning") return "reasoning";
  return speakerOf(block) === "tool" ? "tool output" : "answers";
}

function expandableIn(counted: readonly Counted[], free: number | null): number {
  const gains = counted
    .filter(({ shown }) => shown === "trimmed" || shown === "summarized" || shown === "minimal")
    .map(({ place, tokens }) => tokensShown(place.moment, place.block.id, "original").count - tokens)
    .sort((a, b) => b - a);
  let room = (free ?? 0) / 2;
  return gains.filter((gain) => {
    room -= gain;
    return room >= 0;
  }).length;
}
