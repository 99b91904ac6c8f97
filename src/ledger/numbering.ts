import { turnOf } from "../base/index.ts";
import type { KnownBlock, NumberedBlock } from "../exchange/index.ts";
import { readNote } from "../notes/index.ts";
import { ttlOf } from "../policy/index.ts";
import { estimateTokens, type TokenCounter } from "../tokens/index.ts";
import type { NumberDraft } from "./block-numbers.ts";
import type { BlocksByKey } from "./blocks-by-key.ts";
import { countKeyOnPath, type LedgerTree, pathTo, TreeDraft } from "./ledger-tree.ts";
import { isBlock, type LedgerNode, nodeBytes, textOfUnit } from "./node.ts";
import type { PlannedUnit } from "./planned-units.ts";

export type NumberingInput = {
  readonly draft: NumberDraft;
  readonly tree: LedgerTree;
  /** The last node before the units. */
  readonly end: LedgerNode;
  readonly counter: TokenCounter;
};

/**
 * Numbers new units: one number for each block and one for each message of the client. Our units in such a
 * message get a message number of their own, because a message has one speaker.
 */
export function numberUnits(
  units: readonly PlannedUnit[],
  { draft, tree, end, counter }: NumberingInput,
): readonly PlannedUnit[] {
  const counts = new Map<string, number>();
  draft.openMessage();
  return units.map((unit, at) => {
    const { key, kind, part } = unit.facts;
    const isOwn = unit.origin === "aperture";
    const wasOwn = units[at - 1]?.origin === "aperture";
    if (unit.extra !== null || isOwn !== wasOwn) draft.openMessage();
    if (unit.numbered !== null || part === "empty") return unit;
    const isKnown = draft.hasKey(key);
    const nth = counts.get(key) ?? (isKnown ? countKeyOnPath(tree, end, key) : 0);
    counts.set(key, nth + 1);
    const tokens = counter.count({ bytes: unit.bytes, kind });
    const numbered = draft.numberBlock({ key, kind, tokens }, nth);
    return { ...unit, numbered, keyCount: isKnown ? nth + 1 : null };
  });
}

/**
 * Gives the nodes of a path the numbers that the log has for them, and marks the nodes whose numbers the
 * model knows: those before a header, and those in the message of the header.
 */
export function renumberPath(tree: LedgerTree, leaf: LedgerNode, known: BlocksByKey): LedgerTree {
  const counts = new Map<string, number>();
  const path = pathTo(tree, leaf);
  const numbers = new Map<LedgerNode, NumberedBlock | null>();
  let isAfterHeader = false;
  let lastAnnounced = -1;
  for (const [at, node] of path.entries()) {
    if (!isBlock(node)) {
      if (headerTextOf(node) !== null) [isAfterHeader, lastAnnounced] = [true, at];
      continue;
    }
    const { key } = node.facts;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    if (node.wrapping.role === "assistant") isAfterHeader = false;
    if (isAfterHeader) lastAnnounced = at;
    numbers.set(node, node.numbered ?? findBlock(known, node, nth));
  }
  const draft = new TreeDraft(tree);
  for (const [at, node] of path.entries()) {
    const numbered = numbers.get(node) ?? node.numbered;
    const isAnnounced = at <= lastAnnounced;
    if (numbered !== node.numbered || isAnnounced !== node.isAnnounced)
      draft.set({ ...node, numbered, isAnnounced });
  }
  for (const child of draft.childrenOf(leaf)) renumberAnswer(draft, child, { known, counts });
  return draft.done();
}

/** The text of a header of ours. Null if the node is no header. */
export function headerTextOf(node: LedgerNode): string | null {
  if (isBlock(node)) return null;
  const text = textOfUnit(node.facts, nodeBytes(node));
  const type = text === null ? undefined : readNote(text)?.type;
  return type === "header" || type === "message-header" ? text : null;
}

type KeyCounts = { readonly known: BlocksByKey; readonly counts: ReadonlyMap<string, number> };

/** Numbers an answer that the client has not repeated yet. */
function renumberAnswer(draft: TreeDraft, node: LedgerNode, { known, counts }: KeyCounts): void {
  if (node.sent !== null) return;
  const numbered = node.numbered ?? findBlock(known, node, counts.get(node.facts.key) ?? 0);
  if (numbered !== node.numbered) draft.set({ ...node, numbered });
  for (const child of draft.childrenOf(node)) renumberAnswer(draft, child, { known, counts });
}

function findBlock(blocks: BlocksByKey, node: LedgerNode, nth: number): NumberedBlock | null {
  const { key, kind } = node.facts;
  const known = blocks.find(key, nth);
  return known === null ? null : recordedBlock(known, kind, nodeBytes(node).length);
}

/** A block with the log's number and a size estimated from the length of its bytes. */
export function recordedBlock(known: KnownBlock, kind: NumberedBlock["kind"], length: number): NumberedBlock {
  const { count } = estimateTokens(length, null);
  return { ...known, kind, tokens: count, ttl: ttlOf(kind, turnOf(known.turn)) };
}
