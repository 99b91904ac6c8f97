import type { RewriteReason } from "../engine/index.ts";
import type { CutSize, ModelPrices } from "./price.ts";
import { bestCut, type RewriteBill, requestsExpected, rewriteBill } from "./price-rewrite.ts";

/** A unit of a path: how large it is, and how large it would be if it were shown as it is wanted. */
export type PathPiece = {
  readonly tokens: number;
  /** Null: it is shown as it is wanted. */
  readonly wanted: number | null;
  /** Whether somebody wants to see it whole again. */
  readonly isMissed?: boolean;
};

export type CutAsked = {
  readonly path: readonly PathPiece[];
  /** What stands before the path. */
  readonly head: number;
  /** What is new and comes behind it in any case. */
  readonly coming: number;
  /** How many pieces a cut behind them finds in the cache; one before that finds only the head. */
  readonly anchored: number;
  readonly prices: ModelPrices;
  /** Whether nothing of it is cached any more, and why. */
  readonly cold: "cold" | "model" | null;
  /** Whether the user has just spoken: nothing is under way that a rewrite would disturb. */
  readonly isRunStart: boolean;
  /** Whether reasoning behind the cut is lost. */
  readonly losesReasoning: boolean;
  readonly room: Room | null;
  /** Whether the user wants it now, whatever it costs. */
  readonly isUrged?: boolean;
};

/** Tokens the prompt will have, and how many it may have. */
export type Room = { readonly used: number; readonly limit: number };

export type Cut = {
  /** The first piece that is shown anew. */
  readonly at: number;
  readonly reason: RewriteReason;
  readonly bill: RewriteBill;
};

/** From this share of the room on something has to go, and so much is left afterwards. */
const pressureAt = 0.85;
const relievedAt = 0.6;

/** Less than this is not worth telling anybody of. */
export const removedTokensMin = 500;

/** How many tokens have to go before the next request; 0: none. */
export function tokensToFree(room: Room | null): number {
  if (room === null || room.used < room.limit * pressureAt) return 0;
  return Math.ceil(room.used - room.limit * relievedAt);
}

/**
 * Where a path is best shown anew, if it is. What is free is taken at once; a warm cache is given up where
 * that is expected to pay, and only when the user has just spoken; a window that is nearly full leaves no
 * choice, and neither does a user who wants it now, once nothing is disturbed by it.
 */
export function chooseCut(asked: CutAsked): Cut | null {
  const { path, cold, isRunStart, losesReasoning } = asked;
  const first = path.findIndex(({ wanted }) => wanted !== null);
  if (first === -1) return null;
  if (tokensToFree(asked.room) > 0) return cutAt(asked, first, "pressure");
  const mayDisturb = isRunStart || !losesReasoning;
  if (asked.isUrged === true && mayDisturb) return cutAt(asked, first, cold ?? "user");
  if (cold !== null) return mayDisturb && isWorthTelling(path) ? cutAt(asked, first, cold) : null;
  return isRunStart ? worthwhile(asked) : null;
}

/** Where nothing is cached everything is free, and what somebody wants whole is shown whole at any cost. */
function isWorthTelling(path: readonly PathPiece[]): boolean {
  const removed = path.map(({ tokens, wanted }) => tokens - (wanted ?? tokens));
  return path.some(({ isMissed = false }) => isMissed) || sum(removed) >= removedTokensMin;
}

function worthwhile(asked: CutAsked): Cut | null {
  const { cuts, starts } = candidates(asked);
  const best = bestCut(cuts, choiceFor(asked, false));
  if (best === null || (cuts[best.at]?.removed ?? 0) < removedTokensMin) return null;
  return { at: starts[best.at] ?? 0, reason: "price", bill: best.bill };
}

function cutAt(asked: CutAsked, at: number, reason: RewriteReason): Cut | null {
  const { cuts, starts } = candidates(asked);
  const size = cuts[starts.indexOf(at)];
  if (size === undefined) return null;
  const { prices, prompt, requestsLeft } = choiceFor(asked, false);
  const kept = Math.max(0, prompt.tokens - size.behind - size.removed);
  const { cached } = prompt;
  const bill = rewriteBill({ ...size, kept, cached, requestsLeft, isCold: asked.cold !== null }, prices);
  return { at, reason, bill };
}

function choiceFor({ prices, path, head, coming }: CutAsked, isCold: boolean) {
  const cached = head + sum(path.map(({ tokens }) => tokens));
  return { prices, isCold, requestsLeft: requestsExpected, prompt: { tokens: cached + coming, cached } };
}

/** One for each piece that would change: what lies behind it then, and how much of it goes. */
function candidates({ path, head, coming, anchored, prices }: CutAsked) {
  const cuts: CutSize[] = [];
  const starts: number[] = [];
  const anchor = head + sum(path.slice(0, anchored).map(({ tokens }) => tokens));
  const isMarked = prices.rule.kind === "marks";
  let [behind, removed] = [coming, 0];
  for (let at = path.length - 1; at >= 0; at -= 1) {
    const { tokens, wanted } = path[at] as PathPiece;
    behind += wanted ?? tokens;
    removed += wanted === null ? 0 : tokens - wanted;
    if (wanted === null) continue;
    // Where something is to be shown whole again, a cut may remove less than nothing.
    const size = { behind: behind + Math.min(0, removed), removed: Math.max(0, removed) };
    cuts.push(isMarked ? { ...size, found: at >= anchored ? anchor : head } : size);
    starts.push(at);
  }
  return { cuts: cuts.reverse(), starts: starts.reverse() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
