import { assert } from "../../base/index.ts";
import type { RewriteReason } from "../../engine/index.ts";
import {
  type Cut,
  chooseCut,
  type ModelPrices,
  type PathPiece,
  type RewriteBill,
  removedTokensMin,
  tokensToFree,
} from "../../render/index.ts";
import { prunedTokens, type WantedBlock } from "../desk-port.ts";
import { clearable } from "./clearable.ts";
import type { CountedPrompt } from "./counted.ts";
import type { Item } from "./draft.ts";
import { clearedTokens, type Place } from "./place.ts";
import { asPlaceholder, prunedAs } from "./pruning.ts";
import { lastAnswer } from "./rewrite.ts";
import { otherFor, piecesOf, tokensOf, type WantedBlocks } from "./wanted.ts";

/** A request that is put together, as far as it matters for a rewrite. */
export type Choosing = {
  /** Where what was sent before ends, and all of it in order: looked at only where that matters. */
  readonly last: Place;
  readonly path: () => readonly Place[];
  /** Tokens of what stands in front of it. */
  readonly head: () => number;
  /** The place up to which a mark keeps it in the cache. */
  readonly anchor: Place | null;
  readonly fresh: readonly Item[];
  /** What the model said last, which the client repeats for the first time. */
  readonly heard: readonly Item[];
};

/** The places that are to be shown otherwise, by what means, and why now. */
export type Rewriting = {
  /** Provider: what is wanted are results that go, and it is asked to leave them out. */
  readonly means: "own" | "provider";
  readonly wanted: ReadonlyMap<Place, WantedBlock>;
  readonly reason: RewriteReason;
  readonly bill: RewriteBill;
  /** About how much smaller the prompt becomes, as the provider counts. */
  readonly freed: number;
};

export type ChoiceFacts = {
  readonly wanted: WantedBlocks;
  /** Blocks that stay as they are. */
  readonly held: ReadonlySet<number>;
  /** Whether something is wanted that was not when a rewrite was last thought of. */
  readonly hasNews: boolean;
  /** Whether the user wants what is wanted to be shown now. */
  readonly isUrged: boolean;
  readonly prices: ModelPrices;
  readonly cold: "cold" | "model" | null;
  readonly losesReasoning: boolean;
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** What the prompt holds without what is new, by the log's word; and what it may hold. */
  readonly used: number | null;
  readonly limit: number | null;
  /** The provider's own word on the last prompt; null where it has not said any. */
  readonly counted: CountedPrompt | null;
};

/** Decides whether a request begins an epoch. Nothing is looked at where nothing is wanted. */
export function chooseRewriting(facts: ChoiceFacts, choosing: Choosing): Rewriting | null {
  const { fresh, heard } = choosing;
  const isWarm = facts.cold === null;
  const roomIn = (used: number) => (facts.limit === null ? null : { used, limit: facts.limit });
  const isIdle =
    facts.wanted.size === 0 || (isWarm && !facts.isUrged && !(isRunStart(choosing) && facts.hasNews));
  const soon = promptSoon(facts, choosing);
  const isRoomy = soon !== null && tokensToFree(roomIn(soon)) === 0;
  if (isRoomy && (isIdle || (isWarm && !facts.isUrged && isTooLittle(choosing.last, facts.wanted))))
    return null;
  const [path, head] = [choosing.path(), choosing.head()];
  const { scale, prompt } = sizeOf(facts, choosing, { path, head });
  const room = roomIn(prompt);
  const toFree = tokensToFree(room);
  if (isIdle && toFree === 0) return null;
  const working = workingFrom(path, heard);
  const relief = { path, isWorking: (at: number) => at >= working, toFree: toFree / scale };
  const wanted = toFree > 0 ? relieved(relief, facts) : facts.wanted;
  const { prices, cold, isUrged } = facts;
  const coming = tokensIn([...heard, ...fresh]) * scale;
  const anchored = choosing.anchor === null ? 0 : path.indexOf(choosing.anchor) + 1;
  const why = { prices, cold, isRunStart: isRunStart(choosing), room, isUrged };
  const cutIn = (sized: readonly PathPiece[], losesReasoning: boolean): Cut | null =>
    chooseCut({ path: sized, head: head * scale, coming, anchored, ...why, losesReasoning });
  const own = ownRewriting({ path, wanted, scale, cutIn }, facts);
  if (!facts.mayEdit) return own?.rewriting ?? null;
  const cleared = clearable({
    ...relief,
    items: [...heard, ...fresh],
    wanted: facts.wanted,
    held: facts.held,
  });
  const other = cleared === null ? null : editRewriting({ path, wanted, scale, cutIn }, cleared);
  if (own === null || other === null) return own?.rewriting ?? other;
  const lost = reasoningTokens(path.slice(own.at)) + reasoningTokens(heard);
  return cheaper(own.rewriting, other, lost * scale * prices.output);
}

/** Whether what is wanted otherwise is not worth telling anybody of: seen without putting anything down. */
function isTooLittle(last: Place, wanted: WantedBlocks): boolean {
  let tokens = 0;
  for (let at = last; at.parent !== null; at = at.parent) {
    if (otherFor(at, wanted) !== null) tokens += tokensOf(at);
    if (tokens * scaleMax >= removedTokensMin) return false;
  }
  return true;
}

type Sizing = {
  readonly path: readonly Place[];
  readonly wanted: WantedBlocks;
  readonly scale: number;
  readonly cutIn: (sized: readonly PathPiece[], losesReasoning: boolean) => Cut | null;
};

function ownRewriting({ path, wanted, scale, cutIn }: Sizing, { losesReasoning }: ChoiceFacts) {
  const pieces = piecesOf(path, wanted);
  const sized = pieces.map((piece) => scaled(piece, scale));
  const cut = cutIn(sized, losesReasoning);
  if (cut === null) return null;
  const { at, reason, bill } = cut;
  const isLost = losesReasoning || reason === "pressure";
  const freed = Math.round(freedFrom({ path, pieces: sized, at, losesReasoning: isLost }));
  const chosen = wantedFrom(path, pieces, { at, wanted });
  const rewriting: Rewriting = { means: "own", wanted: chosen, reason, bill, freed };
  return { rewriting, at };
}

/** The provider leaves results out: nothing that was sent changes, so no reasoning is lost. */
function editRewriting(
  { path, wanted, scale, cutIn }: Sizing,
  cleared: ReadonlySet<Place>,
): Rewriting | null {
  const isNew = (place: Place): boolean => cleared.has(place) && place.showing.isCleared !== true;
  const goes = path.map(isNew);
  const sized = path.map((place, at) =>
    scaled({ tokens: tokensOf(place), wanted: goes[at] === true ? clearedTokens : null }, scale),
  );
  const cut = cutIn(sized, false);
  // What goes later would leave an older one in sight, and that cannot be said.
  if (cut === null || cut.at !== goes.indexOf(true)) return null;
  const { at, reason, bill } = cut;
  const freed = Math.round(freedFrom({ path, pieces: sized, at, losesReasoning: false }));
  const chosen = path.filter(isNew).flatMap((place) => {
    const known = place.numbered === null ? undefined : wanted.get(place.numbered.block);
    const pruned = known?.as === "placeholder" ? known : asPlaceholder(place);
    return pruned === null ? [] : [[place, pruned] as const];
  });
  return { means: "provider", wanted: new Map(chosen), reason, bill, freed };
}

/**
 * Reasoning that is lost is charged as if it had to be thought once more. Where none is, our own words are
 * the better ones: they say what was there.
 */
function cheaper(own: Rewriting, other: Rewriting, lost: number): Rewriting {
  return lost === 0 || own.bill.net.tokens - lost > other.bill.net.tokens ? own : other;
}

function reasoningTokens(units: readonly Pick<Place, "facts" | "numbered">[]): number {
  const reasoning = units.filter(({ facts }) => facts.kind === "reasoning");
  return sum(reasoning.map(({ numbered }) => numbered?.tokens ?? 0));
}

/** Whether the user has just spoken: nothing is under way. */
export function isRunStart({ fresh }: Pick<Choosing, "fresh">): boolean {
  return fresh.some(({ facts: { kind } }) => kind === "user") && !fresh.some(isResult);
}

type Freeing = Pick<ChoiceFacts, "losesReasoning"> & {
  readonly path: readonly Place[];
  readonly pieces: readonly PathPiece[];
  readonly at: number;
};

function freedFrom({ path, pieces, at, losesReasoning }: Freeing): number {
  const freed = pieces.map(({ tokens, wanted }, index) => {
    if (index < at) return 0;
    const isLost = losesReasoning && path[index]?.facts.kind === "reasoning";
    return isLost ? tokens : tokens - (wanted ?? tokens);
  });
  return sum(freed);
}

/** The prompt to come without a look at the path; null where nobody has counted the last one. */
function promptSoon({ counted, used }: ChoiceFacts, { last, heard, fresh }: Choosing): number | null {
  const isNext = counted !== null && counted.leaf === last;
  if (isNext) return counted.prompt + Math.max(counted.answer, tokensIn(heard)) + tokensIn(fresh);
  return used === null ? null : used + tokensIn(fresh);
}

type Size = {
  /** What the provider counts for each token of ours. */
  readonly scale: number;
  /** Of the request as it would be without a rewrite. */
  readonly prompt: number;
};

/**
 * The provider has counted the last prompt of this path, or the log has summed it up, or it is estimated.
 * Far from our own sizes, one of the two is wrong.
 */
function sizeOf({ counted, used }: ChoiceFacts, { heard, fresh }: Choosing, sent: Sent): Size {
  const { path, head } = sent;
  let [own, upTo] = [head, -1];
  for (const place of path) {
    own += tokensOf(place);
    if (place === counted?.leaf) upTo = own;
  }
  if (counted !== null && upTo !== -1) {
    const scale = bounded(counted.prompt / Math.max(1, upTo));
    const since = own - upTo + tokensIn(fresh);
    return {
      scale,
      prompt: counted.prompt + Math.max(counted.answer, tokensIn(heard) * scale) + since * scale,
    };
  }
  const scale = used === null ? 1 : bounded(used / Math.max(1, own + tokensIn(heard)));
  return { scale, prompt: (own + tokensIn(heard) + tokensIn(fresh)) * scale };
}

type Sent = { readonly path: readonly Place[]; readonly head: number };

/** The provider's count and ours never differ by more. */
const scaleMax = 3;

function bounded(scale: number): number {
  return Math.min(scaleMax, Math.max(1 / scaleMax, scale));
}

function scaled(piece: PathPiece, scale: number): PathPiece {
  const { tokens, wanted } = piece;
  return { ...piece, tokens: tokens * scale, wanted: wanted === null ? null : wanted * scale };
}

function isResult({ facts }: Item): boolean {
  return facts.type === "tool_result";
}

function tokensIn(items: readonly Item[]): number {
  return sum(items.map(({ numbered }) => numbered?.tokens ?? 0));
}

type From = { readonly at: number; readonly wanted: WantedBlocks };

function wantedFrom(path: readonly Place[], pieces: readonly PathPiece[], { at, wanted }: From) {
  const chosen = new Map<Place, WantedBlock>();
  for (const [index, place] of path.entries()) {
    const other = place.numbered === null ? undefined : wanted.get(place.numbered.block);
    if (index >= at && pieces[index]?.wanted !== null && other !== undefined) chosen.set(place, other);
  }
  return chosen;
}

/** Smaller blocks free less than it costs to say that they are gone. */
const prunedTokensMin = 120;

/**
 * Where what is wanted, and the reasoning that goes with any rewrite for want of room, does not free enough,
 * the oldest results and inputs are pruned until it does.
 */
function relieved({ path, isWorking, toFree }: Relief, { wanted, held }: ChoiceFacts): WantedBlocks {
  const pieces = piecesOf(path, wanted);
  let left = toFree - sum(pieces.map((piece) => piece.tokens - (piece.wanted ?? piece.tokens)));
  const more = new Map(wanted);
  let cut = path.length;
  const cutFrom = (at: number): void => {
    const lost = pieces.filter(
      (_, index) => index >= at && index < cut && path[index]?.facts.kind === "reasoning",
    );
    left -= sum(lost.map(({ tokens }) => tokens));
    cut = Math.min(cut, at);
  };
  const first = pieces.findIndex((piece) => piece.wanted !== null);
  if (first !== -1) cutFrom(first);
  for (const [at, place] of path.entries()) {
    if (left <= 0 || isWorking(at)) break;
    const piece = pieces[at];
    assert(piece !== undefined, "every place is a piece");
    const tokens = piece.wanted ?? piece.tokens;
    const isHeld = place.numbered !== null && held.has(place.numbered.block);
    const pruned = tokens < prunedTokensMin || isHeld ? null : prunedAs(place);
    if (pruned === null) continue;
    more.set(pruned.block, pruned);
    left -= tokens - prunedTokens;
    cutFrom(at);
  }
  return more;
}

type Relief = {
  readonly path: readonly Place[];
  /** Whether a place belongs to what the model works on now: its last words, and what answers them. */
  readonly isWorking: (at: number) => boolean;
  readonly toFree: number;
};

/** Where the last words of the model come with the request itself, nothing sent before is under way. */
function workingFrom(path: readonly Place[], heard: readonly Item[]): number {
  if (heard.length > 0) return path.length;
  const last = lastAnswer(path);
  return last === -1 ? path.length : last;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
