import { assert } from "../base/index.ts";
import type { Usage } from "../engine/frames/index.ts";
import { type LevelWish, placeholderTokens } from "../exchange/index.ts";
import {
  type Cut,
  chooseCut,
  type ModelPrices,
  type PathPiece,
  removedTokensMin,
  tokensToFree,
} from "../policy/index.ts";
import { type LedgerTree, parentOf, sentPathTo } from "./ledger-tree.ts";
import {
  type LevelWishes,
  pathPieces,
  pendingWish,
  placeholderWish,
  pruneWish,
  shownTokens,
} from "./level-wishes.ts";
import { clearedTokens, type LedgerNode, type NodeIndex } from "./node.ts";
import { headTokens } from "./path-blocks.ts";
import type { PlannedUnit } from "./planned-units.ts";
import { clearableResults } from "./provider-clearing.ts";
import type { RequestHead } from "./request-head.ts";
import { lastAnswerStart, type RewriteChoice } from "./rewrite-path.ts";

/** A request before it is written, as the decision about a rewrite sees it. */
export type RewriteCandidate = {
  readonly tree: LedgerTree;
  readonly head: RequestHead;
  /** The last node that was sent before. */
  readonly lastNode: LedgerNode;
  /** The node up to which a mark keeps the path in the cache. */
  readonly anchor: NodeIndex | null;
  readonly fresh: readonly PlannedUnit[];
  /** The units of the last answer, which the client repeats for the first time. */
  readonly repeated: readonly PlannedUnit[];
};

export type ChoiceFacts = {
  readonly wishes: LevelWishes;
  /** Blocks that must not be shown shorter. */
  readonly heldBlocks: ReadonlySet<number>;
  /** Whether wishes have come since a rewrite was last considered. */
  readonly hasNewWishes: boolean;
  /** Whether the user wants the wishes applied now. */
  readonly isUrgent: boolean;
  readonly prices: ModelPrices;
  /** Why nothing is cached any more. Null if the cache is warm. */
  readonly coldReason: "cold" | "model" | null;
  readonly losesReasoning: boolean;
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** The size of the prompt without its new units, by the log's count. */
  readonly usedTokens: number | null;
  /** The most tokens the prompt may have. */
  readonly tokensMax: number | null;
  /** The provider's count of the last prompt. Null if there is none. */
  readonly promptCount: PromptCount | null;
};

/** The provider's count of a prompt that ended at a leaf, and of its answer. */
export type PromptCount = {
  readonly leaf: NodeIndex;
  readonly promptTokens: number;
  readonly answerTokens: number;
};

export function promptCountOf(usage: Usage | null, leaf: NodeIndex): PromptCount | null {
  const promptTokens = usage === null ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
  return usage === null || promptTokens === 0 ? null : { leaf, promptTokens, answerTokens: usage.output };
}

/** Decides whether a request starts an epoch. Without wishes and pressure it does not look at the path. */
export function chooseRewrite(facts: ChoiceFacts, candidate: RewriteCandidate): RewriteChoice | null {
  const { fresh, repeated } = candidate;
  const { prices, coldReason, isUrgent, wishes, tokensMax } = facts;
  const isWarm = coldReason === null;
  const roomFor = (used: number) => (tokensMax === null ? null : { used, limit: tokensMax });
  const isIdle = wishes.size === 0 || (isWarm && !isUrgent && !(isRunStart(candidate) && facts.hasNewWishes));
  const expected = expectedPrompt(facts, candidate);
  const hasRoom = expected !== null && tokensToFree(roomFor(expected)) === 0;
  if (hasRoom && (isIdle || (isWarm && !isUrgent && areWishesTooSmall(candidate, wishes)))) return null;
  const path = sentPathTo(candidate.tree, candidate.lastNode);
  const ownTokens = headTokens(candidate.head);
  const { scale, prompt } = promptSize(facts, candidate, { path, headTokens: ownTokens });
  const room = roomFor(prompt);
  const toFree = tokensToFree(room);
  if (isIdle && toFree === 0) return null;
  const workStart = workStartIn(path, repeated);
  const pressure = { path, isInProgress: (at: number) => at >= workStart, excessTokens: toFree / scale };
  const cutInput = {
    prices,
    coldReason,
    isRunStart: isRunStart(candidate),
    room,
    isUrgent,
    headTokens: ownTokens * scale,
    freshTokens: tokensIn([...repeated, ...fresh]) * scale,
    anchoredPieces: path.findIndex(({ index }) => index === candidate.anchor) + 1,
  };
  const scaledPath: ScaledPath = {
    path,
    wishes: toFree > 0 ? pruneForRoom(pressure, facts) : wishes,
    scale,
    findCut: (pieces, losesReasoning) => chooseCut({ ...cutInput, path: pieces, losesReasoning }),
  };
  const own = ownRewrite(scaledPath, facts);
  if (!facts.mayEdit) return own?.choice ?? null;
  const units = [...repeated, ...fresh];
  const cleared = clearableResults({ ...pressure, units, wishes, heldBlocks: facts.heldBlocks });
  const edit = cleared === null ? null : providerRewrite(scaledPath, cleared);
  if (own === null || edit === null) return own?.choice ?? edit;
  const lostTokens = reasoningTokens(path.slice(own.at)) + reasoningTokens(repeated);
  return cheaper(own.choice, edit, lostTokens * scale * prices.output);
}

/** Cheap check: are the pending changes too small for a rewrite? */
function areWishesTooSmall({ tree, lastNode }: RewriteCandidate, wishes: LevelWishes): boolean {
  let tokens = 0;
  for (let at: LedgerNode | null = lastNode; at !== null; at = parentOf(tree, at)) {
    if (pendingWish(at, wishes) !== null) tokens += shownTokens(at);
    if (tokens * scaleMax >= removedTokensMin) return false;
  }
  return true;
}

type ScaledPath = {
  readonly path: readonly LedgerNode[];
  readonly wishes: LevelWishes;
  /** Tokens by the provider's count for each token of ours. */
  readonly scale: number;
  readonly findCut: (pieces: readonly PathPiece[], losesReasoning: boolean) => Cut | null;
};

/** A rewrite with other bytes from the cut on, and the index of its cut. */
function ownRewrite({ path, wishes, scale, findCut }: ScaledPath, { losesReasoning }: ChoiceFacts) {
  const pieces = pathPieces(path, wishes);
  const scaled = pieces.map((piece) => scalePiece(piece, scale));
  const cut = findCut(scaled, losesReasoning);
  if (cut === null) return null;
  const { at, reason, bill } = cut;
  const isReasoningLost = losesReasoning || reason === "pressure";
  const freedTokens = Math.round(freedFrom({ path, pieces: scaled, at, losesReasoning: isReasoningLost }));
  const chosen = new Map<NodeIndex, LevelWish>();
  for (const [index, node] of path.entries()) {
    const wish = node.numbered === null ? undefined : wishes.get(node.numbered.block);
    if (index >= at && pieces[index]?.wantedTokens !== null && wish !== undefined)
      chosen.set(node.index, wish);
  }
  const choice: RewriteChoice = { means: "own", wishes: chosen, reason, bill, freedTokens };
  return { choice, at };
}

/** A rewrite by the provider, which leaves results out. No sent byte changes, so no reasoning is lost. */
function providerRewrite(
  { path, wishes, scale, findCut }: ScaledPath,
  cleared: ReadonlySet<NodeIndex>,
): RewriteChoice | null {
  const isNew = (node: LedgerNode): boolean => cleared.has(node.index) && node.shown.isCleared !== true;
  const areNew = path.map(isNew);
  const scaled = path.map((node, at) =>
    scalePiece(
      { tokens: shownTokens(node), wantedTokens: areNew[at] === true ? clearedTokens : null },
      scale,
    ),
  );
  const cut = findCut(scaled, false);
  // The provider clears the oldest results first, so it cannot leave an earlier one of them in place.
  if (cut === null || cut.at !== areNew.indexOf(true)) return null;
  const { at, reason, bill } = cut;
  const freedTokens = Math.round(freedFrom({ path, pieces: scaled, at, losesReasoning: false }));
  const chosen = path.filter(isNew).flatMap((node) => {
    const known = node.numbered === null ? undefined : wishes.get(node.numbered.block);
    const wish = known?.as === "placeholder" ? known : placeholderWish(node);
    return wish === null ? [] : [[node.index, wish] as const];
  });
  return { means: "provider", wishes: new Map(chosen), reason, bill, freedTokens };
}

/**
 * Charges lost reasoning as if the model had to produce it again. If none is lost, our own rewrite wins: its
 * placeholders say what was there.
 */
function cheaper(own: RewriteChoice, edit: RewriteChoice, lostCost: number): RewriteChoice {
  return lostCost === 0 || own.bill.net.tokens - lostCost > edit.bill.net.tokens ? own : edit;
}

function reasoningTokens(units: readonly Pick<LedgerNode, "facts" | "numbered">[]): number {
  const reasoning = units.filter(({ facts }) => facts.kind === "reasoning");
  return sum(reasoning.map(({ numbered }) => numbered?.tokens ?? 0));
}

/** Whether the request starts a run: a user's text without tool results. */
export function isRunStart({ fresh }: Pick<RewriteCandidate, "fresh">): boolean {
  const hasResult = fresh.some(({ facts }) => facts.part === "result");
  return fresh.some(({ facts }) => facts.kind === "user") && !hasResult;
}

type FreedInput = Pick<ChoiceFacts, "losesReasoning"> & {
  readonly path: readonly LedgerNode[];
  readonly pieces: readonly PathPiece[];
  readonly at: number;
};

function freedFrom({ path, pieces, at, losesReasoning }: FreedInput): number {
  const freed = pieces.map(({ tokens, wantedTokens }, index) => {
    if (index < at) return 0;
    const isLost = losesReasoning && path[index]?.facts.kind === "reasoning";
    return isLost ? tokens : tokens - (wantedTokens ?? tokens);
  });
  return sum(freed);
}

/** The size of the coming prompt without a look at the path. Null if the last one was not counted. */
function expectedPrompt(
  { promptCount, usedTokens }: ChoiceFacts,
  { lastNode, repeated, fresh }: RewriteCandidate,
): number | null {
  if (promptCount !== null && promptCount.leaf === lastNode.index) {
    const answerTokens = Math.max(promptCount.answerTokens, tokensIn(repeated));
    return promptCount.promptTokens + answerTokens + tokensIn(fresh);
  }
  return usedTokens === null ? null : usedTokens + tokensIn(fresh);
}

type PromptSize = {
  /** Tokens by the provider's count for each token of ours. */
  readonly scale: number;
  /** The size of the request without a rewrite. */
  readonly prompt: number;
};

/**
 * Takes the provider's count of the last prompt on this path, else the log's sum, else our estimate. If one
 * of the first two is far from our estimate, it is wrong, so the scale is bounded.
 */
function promptSize(
  { promptCount, usedTokens }: ChoiceFacts,
  { repeated, fresh }: RewriteCandidate,
  { path, headTokens }: { readonly path: readonly LedgerNode[]; readonly headTokens: number },
): PromptSize {
  let [own, ownUpToCount] = [headTokens, -1];
  for (const node of path) {
    own += shownTokens(node);
    if (node.index === promptCount?.leaf) ownUpToCount = own;
  }
  if (promptCount !== null && ownUpToCount !== -1) {
    const scale = boundScale(promptCount.promptTokens / Math.max(1, ownUpToCount));
    const answerTokens = Math.max(promptCount.answerTokens, tokensIn(repeated) * scale);
    const later = own - ownUpToCount + tokensIn(fresh);
    return { scale, prompt: promptCount.promptTokens + answerTokens + later * scale };
  }
  const scale = usedTokens === null ? 1 : boundScale(usedTokens / Math.max(1, own + tokensIn(repeated)));
  return { scale, prompt: (own + tokensIn(repeated) + tokensIn(fresh)) * scale };
}

/** The provider's count and ours never differ by more. */
const scaleMax = 3;

function boundScale(scale: number): number {
  return Math.min(scaleMax, Math.max(1 / scaleMax, scale));
}

function scalePiece(piece: PathPiece, scale: number): PathPiece {
  const { tokens, wantedTokens } = piece;
  return {
    ...piece,
    tokens: tokens * scale,
    wantedTokens: wantedTokens === null ? null : wantedTokens * scale,
  };
}

function tokensIn(units: readonly PlannedUnit[]): number {
  return sum(units.map(({ numbered }) => numbered?.tokens ?? 0));
}

type PressureInput = {
  readonly path: readonly LedgerNode[];
  /** Whether the model works on a node now: it belongs to the last answer or comes after it. */
  readonly isInProgress: (at: number) => boolean;
  readonly excessTokens: number;
};

/** The placeholder of a smaller block costs more than the block frees. */
const prunedTokensMin = 120;

/**
 * Adds wishes until enough room is freed: prunes the oldest results and inputs, if the wishes and the
 * reasoning that any rewrite under pressure drops do not suffice.
 */
function pruneForRoom(
  { path, isInProgress, excessTokens }: PressureInput,
  { wishes, heldBlocks }: ChoiceFacts,
): LevelWishes {
  const pieces = pathPieces(path, wishes);
  let left = excessTokens - sum(pieces.map((piece) => piece.tokens - (piece.wantedTokens ?? piece.tokens)));
  const more = new Map<number, LevelWish>();
  let cut = path.length;
  const cutFrom = (at: number): void => {
    const lost = pieces.filter(
      (_, index) => index >= at && index < cut && path[index]?.facts.kind === "reasoning",
    );
    left -= sum(lost.map(({ tokens }) => tokens));
    cut = Math.min(cut, at);
  };
  const first = pieces.findIndex((piece) => piece.wantedTokens !== null);
  if (first !== -1) cutFrom(first);
  for (const [at, node] of path.entries()) {
    if (left <= 0 || isInProgress(at)) break;
    const piece = pieces[at];
    assert(piece !== undefined, "every node is a piece");
    const tokens = piece.wantedTokens ?? piece.tokens;
    const isHeld = node.numbered !== null && heldBlocks.has(node.numbered.block);
    const wish = tokens < prunedTokensMin || isHeld ? null : pruneWish(node);
    if (wish === null) continue;
    more.set(wish.block, wish);
    left -= tokens - placeholderTokens;
    cutFrom(at);
  }
  return wishes.withAll(more);
}

/** The index at which the work in progress starts. If the last answer is not sent yet, it is the end. */
function workStartIn(path: readonly LedgerNode[], repeated: readonly PlannedUnit[]): number {
  if (repeated.length > 0) return path.length;
  const last = lastAnswerStart(path);
  return last === -1 ? path.length : last;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
