import { turnOf } from "../base/index.ts";
import type { KnownBlock, NumberedBlock } from "../exchange/index.ts";
import { readNote } from "../notes/index.ts";
import { ttlOf } from "../policy/index.ts";
import { estimateTokens, type TokenCounter } from "../tokens/index.ts";
import type { NumberDraft, StreamNumbers } from "./block-numbers.ts";
import { countKeyOnPath, isBlock, type LedgerNode, nodeBytes, pathTo, textOfUnit } from "./node.ts";
import type { PlannedUnit } from "./planned-units.ts";

export type NumberingInput = {
  readonly numbers: StreamNumbers;
  readonly draft: NumberDraft;
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
  { numbers, draft, end, counter }: NumberingInput,
): readonly PlannedUnit[] {
  const counts = new Map<string, number>();
  draft.openMessage();
  return units.map((unit, at) => {
    const { key, kind, part } = unit.facts;
    const isOwn = unit.origin === "aperture";
    const wasOwn = units[at - 1]?.origin === "aperture";
    if (unit.extra !== null || isOwn !== wasOwn) draft.openMessage();
    if (unit.numbered !== null || part === "empty") return unit;
    const nth = counts.get(key) ?? (numbers.hasKey(key) ? countKeyOnPath(end, key) : 0);
    counts.set(key, nth + 1);
    const tokens = counter.count({ bytes: unit.bytes, kind });
    return { ...unit, numbered: draft.numberBlock({ key, kind, tokens }, () => nth) };
  });
}

/**
 * Gives the nodes of a path the numbers that the log has for them, and marks the nodes whose numbers the
 * model knows: those before a header, and those in the message of the header.
 */
export function renumberPath(leaf: LedgerNode, numbers: StreamNumbers): void {
  const counts = new Map<string, number>();
  const path = pathTo(leaf);
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
    node.numbered ??= findBlock(numbers, node, nth);
  }
  for (const [at, node] of path.entries()) node.isAnnounced = at <= lastAnnounced;
  for (const child of leaf.children) renumberAnswer(child, { numbers, counts });
}

/** The text of a header of ours. Null if the node is no header. */
export function headerTextOf(node: LedgerNode): string | null {
  if (isBlock(node)) return null;
  const text = textOfUnit(node.facts, nodeBytes(node));
  const type = text === null ? undefined : readNote(text)?.type;
  return type === "header" || type === "message-header" ? text : null;
}

type KeyCounts = { readonly numbers: StreamNumbers; readonly counts: ReadonlyMap<string, number> };

/** Numbers an answer that the client has not repeated yet. */
function renumberAnswer(node: LedgerNode, { numbers, counts }: KeyCounts): void {
  if (node.sent !== null) return;
  node.numbered ??= findBlock(numbers, node, counts.get(node.facts.key) ?? 0);
  for (const child of node.children) renumberAnswer(child, { numbers, counts });
}

function findBlock(numbers: StreamNumbers, node: LedgerNode, nth: number): NumberedBlock | null {
  const { key, kind } = node.facts;
  const known = numbers.find(key, nth);
  return known === null ? null : recordedBlock(known, kind, nodeBytes(node).length);
}

/** A block with the log's number and a size estimated from the length of its bytes. */
export function recordedBlock(known: KnownBlock, kind: NumberedBlock["kind"], length: number): NumberedBlock {
  const { count } = estimateTokens(length, null);
  return { ...known, kind, tokens: count, ttl: ttlOf(kind, turnOf(known.turn)) };
}
