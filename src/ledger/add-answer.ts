import type { Usage } from "../engine/frames/index.ts";
import type { CommandCall } from "../exchange/index.ts";
import type { AnswerUnit } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { addAnswerNodes } from "./answer-nodes.ts";
import { NumberDraft } from "./block-numbers.ts";
import { promptCountOf } from "./choose-rewrite.ts";
import { ownCallsIn } from "./command-calls.ts";
import { commandOfferOf, lineCommands } from "./command-lines.ts";
import { headOfRoot, type LedgerStream } from "./ledger-stream.ts";
import { addRoot, emptyTree, nodeAt } from "./ledger-tree.ts";
import { type LedgerNode, type NodeIndex, sentPosition } from "./node.ts";
import { isTaintedBy, unitsReadInTurn } from "./turn-taint.ts";
import { addUnlogged } from "./unlogged-blocks.ts";

export type StreamAnswer = {
  readonly units: readonly AnswerUnit[];
  /** The provider's count. Null if it gave none. */
  readonly usage: Usage | null;
  /** The seq of the wishes whose changes the model has read. Zero if it has read none. */
  readonly changesSeq: number;
};

export type AnswerResult = {
  readonly stream: LedgerStream;
  /** One node for each unit of the answer. */
  readonly nodes: readonly LedgerNode[];
  /** Whether the nodes are part of the stream. They are not if the stream has forgotten the request. */
  readonly isKept: boolean;
};

/**
 * Adds the answer to the request that ended at a leaf. Null, or a leaf that was forgotten: its blocks are
 * numbered, because the log is told their numbers, and nothing else is kept.
 */
export function addAnswer(
  stream: LedgerStream,
  leaf: NodeIndex | null,
  { units, usage, changesSeq }: StreamAnswer,
): AnswerResult {
  const { notes, turn } = stream;
  const known = leaf === null ? undefined : stream.tree.nodes.get(leaf);
  const isKept = known !== undefined;
  const below = isKept ? { tree: stream.tree, root: known } : addRoot(emptyTree, "");
  const end = below.root;
  const draft = new NumberDraft(stream.numbers, turn);
  const counter = new TokenCounter(end.model, stream.tokenRate);
  const commandOffer = commandOfferOf(isKept ? headOfRoot(stream, end.root) : null, stream.nonce);
  const options = { units, draft, counter, commandOffer };
  const { tree, nodes } = addAnswerNodes(below.tree, end, options);
  const answered: LedgerStream = {
    ...stream,
    tree: isKept ? tree : stream.tree,
    numbers: draft.done(),
    promptCount: (isKept ? promptCountOf(usage, end.index) : null) ?? stream.promptCount,
    unlogged: addUnlogged(
      stream.unlogged,
      nodes.map(({ numbered }) => numbered),
    ),
    notes: { ...notes, changesSeq: Math.max(notes.changesSeq, changesSeq) },
  };
  return { stream: answered, nodes, isKept };
}

/** The commands of an answer. */
export type AnswerCommands = {
  readonly calls: readonly CommandCall[];
  /** The id of the node before the answer: with it, calls of two answers cannot have the same key. */
  readonly beforeId: string;
  /** Whether new content from outside looks like commands. */
  readonly isTainted: boolean;
};

export type AnswerPosition = {
  /** The last node of the request. */
  readonly leaf: NodeIndex;
  /** The last node of the answer. */
  readonly end: NodeIndex;
  readonly units: readonly AnswerUnit[];
};

/** The calls of our tools and the command lines in an answer. Null if there are none. */
export function commandsOf(
  stream: LedgerStream,
  { leaf, end, units }: AnswerPosition,
): AnswerCommands | null {
  const { tree, nonce } = stream;
  const request = nodeAt(tree, leaf);
  const { hasTools, nonce: lineNonce } = commandOfferOf(headOfRoot(stream, request.root), nonce);
  const toolCalls = hasTools ? ownCallsIn(units) : [];
  const lineCalls = lineNonce === null ? [] : lineCommands(tree, nodeAt(tree, end), nonce);
  const calls = [...toolCalls, ...lineCalls.map(({ id, name, input }) => ({ id, name, input }))];
  if (calls.length === 0) return null;
  const isTainted = isTaintedBy(unitsReadInTurn(tree, request, units), nonce);
  return { calls, beforeId: sentPosition(request).id, isTainted };
}
