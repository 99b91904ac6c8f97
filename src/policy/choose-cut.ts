import type { RewriteReason } from "../engine/frames/index.ts";
import type { CutSize, ModelPrices } from "./price.ts";
import { bestCut, type RewriteBill, requestsExpected, rewriteBill } from "./price-rewrite.ts";

/** The reason of acts under pressure. */
export const pressureReason = "window pressure";

/** The sizes of one unit of a path. */
export type PathPiece = {
  /** The size as it is shown. */
  readonly tokens: number;
  /** The size at its wished level. Null if it is shown as wished. */
  readonly wantedTokens: number | null;
  /** Whether it is wanted whole again. */
  readonly isWantedWhole?: boolean;
};

export type CutInput = {
  readonly path: readonly PathPiece[];
  /** The size of the head before the path. */
  readonly headTokens: number;
  /** The size of the new units after the path. */
  readonly freshTokens: number;
  /** The pieces before the anchor. A cut after them finds them in the cache, an earlier one only the head. */
  readonly anchoredPieces: number;
  readonly prices: ModelPrices;
  /** Why nothing is cached any more. Null if the cache is warm. */
  readonly coldReason: "cold" | "model" | null;
  /** Whether a run starts: then a rewrite disturbs no work in progress. */
  readonly isRunStart: boolean;
  /** Whether reasoning after the cut is lost. */
  readonly losesReasoning: boolean;
  readonly room: PromptRoom | null;
  /** Whether the user wants the rewrite now, whatever it costs. */
  readonly isUrgent?: boolean;
};

/** The tokens the prompt will have, and the most it may have. */
export type PromptRoom = { readonly used: number; readonly limit: number };

export type Cut = {
  /** The index of the first piece that is rewritten. */
  readonly at: number;
  readonly reason: RewriteReason;
  readonly bill: RewriteBill;
};

/** Pressure starts at the first share of the limit, and is relieved down to the second. */
const pressureShare = 0.85;
const relievedShare = 0.6;

/** A rewrite that removes less is not worth it. */
export const removedTokensMin = 500;

/** The tokens that must be freed before the next request. 0 without pressure. */
export function tokensToFree(room: PromptRoom | null): number {
  if (room === null || room.used < room.limit * pressureShare) return 0;
  return Math.ceil(room.used - room.limit * relievedShare);
}

/**
 * Chooses where a path is rewritten, if at all. A cold cache makes a rewrite free, so it is taken at once. A
 * warm cache is given up only at the start of a run and if that is expected to pay. Pressure leaves no
 * choice, nor does a user who wants it now, unless it would cost the reasoning of work in progress.
 */
export function chooseCut(input: CutInput): Cut | null {
  const { path, coldReason, isRunStart, losesReasoning } = input;
  const first = path.findIndex(({ wantedTokens }) => wantedTokens !== null);
  if (first === -1) return null;
  if (tokensToFree(input.room) > 0) return cutAt(input, first, "pressure");
  const mayDisturb = isRunStart || !losesReasoning;
  if (input.isUrgent === true && mayDisturb) return cutAt(input, first, coldReason ?? "user");
  if (coldReason !== null) return mayDisturb && isWorthIt(path) ? cutAt(input, first, coldReason) : null;
  return isRunStart ? profitableCut(input) : null;
}

/** Whether a free rewrite is worth it: it removes enough, or shows a block whole again that is wanted so. */
function isWorthIt(path: readonly PathPiece[]): boolean {
  const removed = path.map(({ tokens, wantedTokens }) => tokens - (wantedTokens ?? tokens));
  return path.some(({ isWantedWhole = false }) => isWantedWhole) || sum(removed) >= removedTokensMin;
}

function profitableCut(input: CutInput): Cut | null {
  const { cuts, starts } = candidatesIn(input);
  const best = bestCut(cuts, cutOptions(input));
  if (best === null || (cuts[best.at]?.removed ?? 0) < removedTokensMin) return null;
  return { at: starts[best.at] ?? 0, reason: "price", bill: best.bill };
}

function cutAt(input: CutInput, at: number, reason: RewriteReason): Cut | null {
  const { cuts, starts } = candidatesIn(input);
  const size = cuts[starts.indexOf(at)];
  if (size === undefined) return null;
  const { prices, prompt, requestsLeft } = cutOptions(input);
  const kept = Math.max(0, prompt.tokens - size.behind - size.removed);
  const { cached } = prompt;
  const isCold = input.coldReason !== null;
  return { at, reason, bill: rewriteBill({ ...size, kept, cached, requestsLeft, isCold }, prices) };
}

function cutOptions({ prices, path, headTokens, freshTokens }: CutInput) {
  const cached = headTokens + sum(path.map(({ tokens }) => tokens));
  return {
    prices,
    isCold: false,
    requestsLeft: requestsExpected,
    prompt: { tokens: cached + freshTokens, cached },
  };
}

/** One cut before each piece that would change, with the tokens that stay after it and those it removes. */
function candidatesIn({ path, headTokens, freshTokens, anchoredPieces, prices }: CutInput) {
  const cuts: CutSize[] = [];
  const starts: number[] = [];
  const anchor = headTokens + sum(path.slice(0, anchoredPieces).map(({ tokens }) => tokens));
  const isMarked = prices.rule.kind === "marks";
  let [behind, removed] = [freshTokens, 0];
  for (let at = path.length - 1; at >= 0; at -= 1) {
    const { tokens, wantedTokens } = path[at] as PathPiece;
    behind += wantedTokens ?? tokens;
    removed += wantedTokens === null ? 0 : tokens - wantedTokens;
    if (wantedTokens === null) continue;
    // If a block is shown whole again, a cut may add more tokens than it removes.
    const size = { behind: behind + Math.min(0, removed), removed: Math.max(0, removed) };
    cuts.push(isMarked ? { ...size, found: at >= anchoredPieces ? anchor : headTokens } : size);
    starts.push(at);
  }
  return { cuts: cuts.reverse(), starts: starts.reverse() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
