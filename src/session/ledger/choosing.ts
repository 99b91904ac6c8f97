import { assert } from "../../base/index.ts";
import type { RewriteReason } from "../../engine/index.ts";
import { spokenIn } from "../../protocols/index.ts";
import {
  chooseCut,
  hintOf,
  type ModelPrices,
  type PathPiece,
  type RewriteBill,
  type Room,
  tokensToFree,
} from "../../render/index.ts";
import type { WantedBlock } from "../desk-port.ts";
import type { Item } from "./draft.ts";
import { bytesOf, type Place } from "./place.ts";
import { piecesOf, type WantedBlocks } from "./wanted.ts";

/** A request that is put together, as far as it matters for a rewrite. */
export type Choosing = {
  /** What was sent before, in order. */
  readonly path: readonly Place[];
  /** Tokens of what stands in front of it. */
  readonly head: number;
  /** How many places of it a mark keeps in the cache. */
  readonly anchored: number;
  readonly fresh: readonly Item[];
  /** What the model said last, which the client repeats for the first time. */
  readonly heard: readonly Item[];
};

/** The places that are to be shown otherwise, and why now. */
export type Rewriting = {
  readonly wanted: ReadonlyMap<Place, WantedBlock>;
  readonly reason: RewriteReason;
  readonly bill: RewriteBill;
  /** About how much smaller the prompt becomes, as the provider counts. */
  readonly freed: number;
};

export type ChoiceFacts = {
  readonly wanted: WantedBlocks;
  readonly prices: ModelPrices;
  readonly cold: "cold" | "model" | null;
  readonly losesReasoning: boolean;
  /** What the prompt holds without what is new, where somebody has counted it; and what it may hold. */
  readonly used: number | null;
  readonly limit: number | null;
};

/** Decides whether a request begins an epoch. Nothing is looked at where nothing is wanted. */
export function chooseRewriting(facts: ChoiceFacts, choosing: Choosing): Rewriting | null {
  const { path, head, anchored, fresh, heard } = choosing;
  const isRunStart = fresh.some(({ facts: { kind } }) => kind === "user") && !fresh.some(isResult);
  const isQuiet = !isRunStart && facts.cold === null;
  const room = roomFor(facts, choosing);
  const toFree = tokensToFree(room);
  if (toFree === 0 && (facts.wanted.size === 0 || isQuiet)) return null;
  const scale = scaleOf(facts, head + sum(piecesOf(path, new Map()).map(({ tokens }) => tokens)));
  const wanted = toFree > 0 ? relieved(path, facts.wanted, toFree / scale) : facts.wanted;
  const pieces = piecesOf(path, wanted);
  const { prices, cold, losesReasoning } = facts;
  const why = { prices, cold, isRunStart, losesReasoning, room };
  const sized = pieces.map((piece) => scaled(piece, scale));
  const coming = tokensIn([...heard, ...fresh]) * scale;
  const cut = chooseCut({ path: sized, head: head * scale, coming, anchored, ...why });
  if (cut === null) return null;
  const { at, reason, bill } = cut;
  const isLost = losesReasoning || reason === "pressure";
  const freed = Math.round(freedFrom({ path, pieces: sized, at, losesReasoning: isLost }));
  return { wanted: wantedFrom(path, pieces, { at, wanted }), reason, bill, freed };
}

type Freeing = Pick<ChoiceFacts, "losesReasoning"> &
  Pick<Choosing, "path"> & { readonly pieces: readonly PathPiece[]; readonly at: number };

function freedFrom({ path, pieces, at, losesReasoning }: Freeing): number {
  const freed = pieces.map(({ tokens, wanted }, index) => {
    if (index < at) return 0;
    const isLost = losesReasoning && path[index]?.facts.kind === "reasoning";
    return isLost ? tokens : tokens - (wanted ?? tokens);
  });
  return sum(freed);
}

/** What the provider counts for what we have; far off, one of the two is wrong. */
function scaleOf({ used }: ChoiceFacts, counted: number): number {
  return used === null || counted === 0 ? 1 : Math.min(2, Math.max(0.5, used / counted));
}

function scaled({ tokens, wanted }: PathPiece, scale: number): PathPiece {
  return { tokens: tokens * scale, wanted: wanted === null ? null : wanted * scale };
}

function isResult({ facts }: Item): boolean {
  return facts.type === "tool_result";
}

function roomFor({ used, limit }: ChoiceFacts, { path, head, fresh }: Choosing): Room | null {
  if (limit === null) return null;
  const before = used ?? head + sum(piecesOf(path, new Map()).map(({ tokens }) => tokens));
  return { used: before + tokensIn(fresh), limit };
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

/** What stands for a block that had to go. */
const prunedTokens = 40;
/** Smaller blocks free less than it costs to say that they are gone. */
const prunedTokensMin = 120;
export const pressureReason = "window pressure";

/**
 * Where what is wanted, and the reasoning that goes with any rewrite for want of room, does not free enough,
 * the oldest results and inputs are pruned until it does.
 */
function relieved(path: readonly Place[], wanted: WantedBlocks, toFree: number): WantedBlocks {
  const pieces = piecesOf(path, wanted);
  const first = pieces.findIndex((piece) => piece.wanted !== null);
  const reasoning = pieces.filter((_, at) => at >= first && path[at]?.facts.kind === "reasoning");
  const lowered = pieces.map((piece) => piece.tokens - (piece.wanted ?? piece.tokens));
  let left = toFree - sum(lowered) - sum(reasoning.map(({ tokens }) => tokens));
  const more = new Map(wanted);
  for (const [at, place] of path.entries()) {
    if (left <= 0) break;
    const piece = pieces[at];
    assert(piece !== undefined, "every place is a piece");
    const tokens = piece.wanted ?? piece.tokens;
    const pruned = tokens < prunedTokensMin ? null : prunedAs(place);
    if (pruned === null) continue;
    more.set(pruned.block, pruned);
    left -= tokens - prunedTokens;
  }
  return more;
}

function prunedAs(place: Place): WantedBlock | null {
  const { numbered, facts } = place;
  if (numbered === null || place.showing.as === "placeholder") return null;
  const { block } = numbered;
  const pruned = { block, as: "placeholder", tokens: prunedTokens, reason: pressureReason } as const;
  if (facts.kind === "tool-call") {
    return { ...pruned, text: null, input: { pruned: `#${block} (${pressureReason}) -> expand #${block}` } };
  }
  if (facts.kind !== "tool-result" && facts.kind !== "media") return null;
  const spoken = spokenIn(place.original ?? bytesOf(place));
  const said = spoken === null || spoken.type === "call" ? "" : spoken.text;
  return { ...pruned, text: hintOf(said), input: null };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
