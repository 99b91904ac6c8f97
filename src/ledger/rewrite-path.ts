import { hashContent } from "../base/index.ts";
import type { PredictedBill, RewriteReason } from "../engine/frames/index.ts";
import type { LevelWish, SentEpoch } from "../exchange/index.ts";
import type { Money, RewriteBill } from "../policy/index.ts";
import { type LedgerTree, nodeAt, sentPathTo } from "./ledger-tree.ts";
import { placeholderWish, rewordTo } from "./level-wishes.ts";
import {
  isBlock,
  isReasoning,
  type LedgerNode,
  type NodeIndex,
  nodeBytes,
  type ShownBytes,
  sentPosition,
  shownCleared,
  shownWhole,
} from "./node.ts";
import type { PlannedUnit } from "./planned-units.ts";
import { contextEditAfter, needsContextEdit } from "./provider-clearing.ts";
import { type WithheldContent, withheldFormOf } from "./withheld.ts";

/** The nodes to be shown otherwise, by what means, and why now. */
export type RewriteChoice = {
  /** Provider: all wishes are placeholders of results, and the provider is asked to leave them out. */
  readonly means: "own" | "provider";
  readonly wishes: ReadonlyMap<NodeIndex, LevelWish>;
  readonly reason: RewriteReason;
  readonly bill: RewriteBill;
  /** The estimated number of tokens the prompt loses, by the provider's count. */
  readonly freedTokens: number;
};

export type RewriteInput = {
  readonly tree: LedgerTree;
  readonly withheld: WithheldContent;
  readonly choice: RewriteChoice | null;
  /** The units after the path. */
  readonly units: readonly PlannedUnit[];
  /** Whether the provider may be asked to leave results out. */
  readonly mayEdit: boolean;
  /** The reason for a rewrite if the provider cannot be asked any more for what it left out before. */
  readonly lapseReason: RewriteReason;
  readonly nonce: string;
};

export type PathRewrite = {
  /** The last node that stays as it is. */
  readonly cut: LedgerNode;
  /** All units after it, written again. */
  readonly units: readonly PlannedUnit[];
  readonly reason: RewriteReason;
  /** Provider: no bytes change, so reasoning after the cut stays valid. */
  readonly means: "own" | "provider";
  /** The predicted cost. Null if it was not computed. */
  readonly bill: RewriteBill | null;
  /** The estimated number of tokens the prompt loses. */
  readonly freedTokens: number;
};

/** Rewrites a path for all pending changes. Withheld content goes first. Null if nothing changes. */
export function rewriteFor(end: LedgerNode, input: RewriteInput): PathRewrite | null {
  const rewrite = rewriteWith(end, { ...input, lapsed: null });
  const from = rewrite?.cut ?? end;
  const after = [...(rewrite?.units ?? []), ...input.units];
  const isPossible = input.mayEdit && contextEditAfter(input.tree, from, after) !== null;
  if (!needsContextEdit(from, after) || isPossible) return rewrite;
  // The provider cannot be asked any more for what it left out, so we prune it ourselves.
  return rewriteWith(end, { ...input, lapsed: input.lapseReason });
}

/** `lapsed`: why results that the provider left out are pruned by us. Null if they are not. */
type LapsedRewriteInput = RewriteInput & { readonly lapsed: RewriteReason | null };

function rewriteWith(end: LedgerNode, input: LapsedRewriteInput): PathRewrite | null {
  const { withheld, choice, lapsed } = input;
  if (choice === null && lapsed === null && withheld.size === 0) return null;
  const isEdit = choice?.means === "provider" && lapsed === null;
  const edited = isEdit ? rewriteBy(end, input, "provider") : null;
  // If any other bytes change, reasoning is lost anyway, and our own placeholders say more.
  return edited?.units.every(isUnchanged) === true ? edited : rewriteBy(end, input, "own");
}

function isUnchanged({ rewriteOf, bytes }: PlannedUnit): boolean {
  return rewriteOf !== null && Buffer.compare(bytes, nodeBytes(rewriteOf)) === 0;
}

function rewriteBy(
  end: LedgerNode,
  input: LapsedRewriteInput,
  means: PathRewrite["means"],
): PathRewrite | null {
  const { withheld, choice, lapsed } = input;
  const formFor = (node: LedgerNode): ShownBytes | undefined => {
    const withheldForm = withheldFormOf(withheld, node);
    // Injected lines are rewritten only to remove withheld text.
    if (withheldForm !== undefined || !isBlock(node)) return withheldForm;
    const isLapsed = lapsed !== null && node.shown.isCleared === true;
    const wish = choice?.wishes.get(node.index) ?? (isLapsed ? placeholderWish(node) : null);
    if (wish === null) return undefined;
    const bytes = nodeBytes(node);
    // A result that the provider leaves out keeps its bytes.
    if (means === "provider") return { bytes: Uint8Array.from(bytes), shown: shownCleared };
    return rewordTo({ ...node, bytes }, wish, input.nonce);
  };
  const reason = choice?.reason ?? lapsed ?? "user";
  const { bill = null, freedTokens = 0 } = choice ?? {};
  return rewritePath(input.tree, end, { formFor, reason, means, bill, freedTokens });
}

type RewriteSpec = Omit<PathRewrite, "cut" | "units"> & {
  /** The new form of a node. Undefined if it stays as it is. */
  readonly formFor: (node: LedgerNode) => ShownBytes | undefined;
};

/** Writes a path again from the first node that changes. */
function rewritePath(
  tree: LedgerTree,
  end: LedgerNode,
  { formFor, ...rewrite }: RewriteSpec,
): PathRewrite | null {
  const path = sentPathTo(tree, end);
  const forms = new Map<LedgerNode, ShownBytes>();
  for (const node of path) {
    const form = formFor(node);
    if (form !== undefined && isOtherForm(form, node)) forms.set(node, form);
  }
  const lenders = new Map(path.map((node) => [node.numbered?.block, node]));
  for (const node of path) restoreBorrowed(node, lenders, forms);
  const first = path.findIndex((node) => forms.has(node));
  const parent = path[first]?.parent ?? null;
  if (first === -1 || parent === null) return null;
  const cut = nodeAt(tree, parent);
  const changesBytes = rewrite.means === "own";
  const units = path.slice(first).map((node) => rewrittenUnit(node, forms.get(node), changesBytes));
  return { cut, units, ...rewrite };
}

function isOtherForm({ bytes, shown }: ShownBytes, node: LedgerNode): boolean {
  return shown.isCleared !== node.shown.isCleared || Buffer.compare(bytes, nodeBytes(node)) !== 0;
}

/** Gives a unit its own lines back if a block it borrows from is not shown whole any more. */
function restoreBorrowed(
  node: LedgerNode,
  lenders: ReadonlyMap<number | undefined, LedgerNode>,
  forms: Map<LedgerNode, ShownBytes>,
): void {
  const { borrows } = (forms.get(node) ?? node).shown;
  if (borrows.length === 0 || node.original === null) return;
  const isGone = (block: number): boolean => {
    const lender = lenders.get(block);
    return lender === undefined || (forms.get(lender)?.shown ?? lender.shown).as !== "original";
  };
  if (borrows.some(isGone)) forms.set(node, { bytes: node.original, shown: shownWhole });
}

function rewrittenUnit(node: LedgerNode, form: ShownBytes | undefined, changesBytes: boolean): PlannedUnit {
  const { facts, origin, wrapping, opensMessage, extra, numbered } = node;
  const shownBytes = Uint8Array.from(nodeBytes(node));
  const bytes = form?.bytes ?? shownBytes;
  return {
    facts,
    origin,
    wrapping,
    opensMessage,
    extra,
    bytes,
    hash: hashContent(bytes),
    alignedIndex: null,
    answerNode: null,
    isRewritten: node.isRewritten || form !== undefined,
    isForeignReasoning: isReasoning(node) && (changesBytes || node.isForeignReasoning),
    original: node.isRewritten || form === undefined ? node.original : shownBytes,
    firstForm: node.firstForm ?? firstFormOf(node),
    rewriteOf: node,
    numbered,
    shown: form?.shown ?? node.shown,
    isHeader: node.isHeader && form === undefined,
    keyCount: null,
  };
}

/** The form to return to when the block is wanted whole again: all of it in fewer lines than the client's. */
function firstFormOf(node: LedgerNode): ShownBytes | null {
  const { isRewritten, isHeader, shown } = node;
  if (!isRewritten || isHeader || shown.as !== "original") return null;
  return { bytes: Uint8Array.from(nodeBytes(node)), shown };
}

/** Moves a repeated answer after a cut. If no bytes before it changed, its reasoning is not foreign there. */
export function answerAfterCut(
  repeated: readonly PlannedUnit[],
  rewrite: PathRewrite | null,
): readonly PlannedUnit[] {
  if (rewrite?.means !== "provider") return repeated;
  return repeated.map((unit) => ({ ...unit, answerNode: null, rewriteOf: unit.answerNode }));
}

/** The index at which the model's last message starts: the work in progress. */
export function lastAnswerStart(units: readonly Pick<LedgerNode, "opensMessage" | "wrapping">[]): number {
  return units.findLastIndex(({ opensMessage, wrapping }) => opensMessage && wrapping.role === "assistant");
}

/** Drops reasoning whose prefix changed, from the first `before` units. */
export function dropReasoning(units: readonly PlannedUnit[], before = units.length): readonly PlannedUnit[] {
  const kept: PlannedUnit[] = [];
  let mustOpen = false;
  for (const [at, unit] of units.entries()) {
    mustOpen ||= unit.opensMessage;
    if (unit.facts.kind === "reasoning" && at < before) continue;
    kept.push(unit.opensMessage === mustOpen ? unit : { ...unit, opensMessage: mustOpen });
    mustOpen = false;
  }
  return kept;
}

/** The epoch as the log records it. */
export function epochOf({ cut, reason, means, bill }: PathRewrite): SentEpoch {
  const { id } = sentPosition(cut);
  const predicted = bill === null ? null : predictedBill(bill);
  return { cut: id === "" ? null : id, reason, means, predicted };
}

function predictedBill({ rewritten, unchanged, savedEach }: RewriteBill): PredictedBill {
  const round = ({ tokens }: Money): number => Math.round(tokens);
  return {
    rewritten: round(rewritten),
    unchanged: round(unchanged),
    savedEach: Math.max(0, round(savedEach)),
  };
}
