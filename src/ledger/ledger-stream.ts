import type { Protocol, WireRequest } from "../protocols/index.ts";
import type { AppendList } from "./append-list.ts";
import {
  loadNumbers,
  type SessionNumbers,
  type StreamNumbers,
  sessionNumbers,
  streamNumbers,
  withoutSession,
} from "./block-numbers.ts";
import type { KeyedBlock } from "./blocks-by-key.ts";
import { type Branch, branchBytes } from "./branches.ts";
import type { PromptCount } from "./choose-rewrite.ts";
import { emptyTree, type LedgerTree, nodeAt, TreeDraft } from "./ledger-tree.ts";
import type { NodeIndex } from "./node.ts";
import { renumberPath } from "./numbering.ts";
import type { PlanContext } from "./plan-request.ts";
import type { RequestHead } from "./request-head.ts";
import { SeenTexts } from "./seen-texts.ts";
import { dropLogged, noUnlogged, type UnloggedBlocks } from "./unlogged-blocks.ts";
import { firstTail, type TailState } from "./write-tail.ts";

/**
 * The ledger of one stream: everything that was sent upstream for it, as a tree; each request is a path in
 * it. It is a value: functions return another one and leave this one as it was. Its tables share what did not
 * change. Its bytes lie in buffers that only grow: a newer value appends behind the end that this one knows,
 * or into a fork, so whatever this value can read never changes.
 */
export type LedgerStream = {
  readonly protocol: Protocol;
  readonly nonce: string;
  /** Whether none of our units was ever sent: then reasoning in the client's history is valid as it is. */
  readonly isNew: boolean;
  /** How often everything was forgotten: the index of a node from before means nothing any more. */
  readonly resets: number;
  readonly tree: LedgerTree;
  /** The last used head is at the end. */
  readonly heads: readonly RequestHead[];
  /** Each in a buffer of its own, the last used one at the end. */
  readonly branches: readonly Branch[];
  readonly current: CurrentTurn | null;
  /** The last turn that was sent. */
  readonly turn: number;
  readonly turnMs: number | null;
  /** The leaf of the last turn. */
  readonly lastLeaf: NodeIndex | null;
  /** The end of the last rewrite: a mark there keeps the prefix cached, so that the next rewrite is cheap. */
  readonly anchor: NodeIndex | null;
  /** Tokens by the provider's count for each token of ours. */
  readonly tokenRate: number;
  /** The last prompt that the provider counted, and where it ended. */
  readonly promptCount: PromptCount | null;
  readonly numbers: StreamNumbers;
  readonly seen: SeenTexts;
  readonly unlogged: UnloggedBlocks;
  readonly notes: NotesState;
};

/** The last turn: the next alignment starts where the two requests part. */
export type CurrentTurn = {
  /** Only its parsed parts are compared: the memory of its body may be reused. */
  readonly request: WireRequest;
  readonly root: NodeIndex;
  readonly style: PlanContext["style"];
  /** One node for each unit of the messages. */
  readonly nodes: AppendList<NodeIndex>;
};

/** Which of the wishes the stream has acted on, and what its tails have said. */
export type NotesState = {
  /** The seq of the wishes whose names were put into a header. */
  readonly namesSeq: number;
  /** The seq of the last wishes whose changes the model has read: it reads them once. */
  readonly changesSeq: number;
  /** The version of the wishes that were considered for a rewrite at the start of a run. */
  readonly consideredVersion: number;
  /** The version of the wishes that the last rewrite applied. */
  readonly appliedVersion: number;
  readonly tail: TailState;
};

export type StreamOptions = {
  readonly protocol: Protocol;
  readonly nonce: string;
  readonly isNew: boolean;
  /** The numbers of its session. Null if the log must be asked for them. */
  readonly session: SessionNumbers | null;
  /** Whether the conversation begins now, so that the ledger counts all of its blocks. */
  readonly isComplete: boolean;
};

export function openStream({ protocol, nonce, isNew, session, isComplete }: StreamOptions): LedgerStream {
  return {
    protocol,
    nonce,
    isNew,
    resets: 0,
    ...noRequests(),
    tokenRate: 1,
    numbers: streamNumbers(session),
    unlogged: noUnlogged(isComplete),
    notes: { namesSeq: 0, changesSeq: 0, consideredVersion: 0, appliedVersion: 0, tail: firstTail },
  };
}

/** The state of a stream for which nothing was sent. */
const noRequests = () => ({
  tree: emptyTree,
  heads: [],
  branches: [],
  current: null,
  turn: 0,
  turnMs: null,
  lastLeaf: null,
  anchor: null,
  promptCount: null,
  seen: SeenTexts.empty(),
});

/** Forgets every sent unit: the next request is planned from scratch, without old reasoning. */
export function resetStream(stream: LedgerStream): LedgerStream {
  return { ...stream, ...noRequests(), resets: stream.resets + 1, isNew: false };
}

/** Forgets every sent unit and every block: the client starts again with other messages. */
export function restartStream(stream: LedgerStream): LedgerStream {
  return { ...resetStream(stream), numbers: streamNumbers(null) };
}

/**
 * Begins to plan a stream that was only observed. Its numbers are outdated: requests have passed unchanged
 * since they were read, and the log may even have recorded those in another session. The client's messages
 * are taken as they are, and the log is asked again for their numbers.
 */
export function forgetObserved(stream: LedgerStream): LedgerStream {
  const resets = stream.resets + 1;
  return { ...stream, ...noRequests(), resets, isNew: true, numbers: streamNumbers(null) };
}

/**
 * The stream as if a refused request had not been planned: the next one is the same turn. The numbers of its
 * blocks stay, because the log knows them.
 */
export function withoutRefused({
  before,
  after,
}: {
  readonly before: LedgerStream;
  readonly after: LedgerStream;
}): LedgerStream {
  return { ...before, numbers: after.numbers };
}

/** Notes a request that passed without a plan: the log numbers its blocks, the ledger did not count them. */
export function notePassed(stream: LedgerStream): LedgerStream {
  const unlogged = { ...stream.unlogged, isComplete: false };
  return { ...stream, numbers: withoutSession(stream.numbers), unlogged };
}

/** Follows the log, which has recorded everything up to a turn. Observed turns count too. */
export function followLog(stream: LedgerStream, turn: number): LedgerStream {
  return { ...stream, turn: Math.max(stream.turn, turn), unlogged: dropLogged(stream.unlogged, turn) };
}

export type RecordedNumbers = {
  readonly session: SessionNumbers | null;
  readonly blocks: readonly KeyedBlock[];
  readonly lastTurn: number;
};

/** Gives the blocks that were sent before the numbers that the log has for them. */
export function renumber(stream: LedgerStream, { session, blocks, lastTurn }: RecordedNumbers): LedgerStream {
  const numbers = loadNumbers(stream.numbers, session ?? sessionNumbers(), blocks);
  const { tree, lastLeaf } = stream;
  const renumbered = lastLeaf === null ? tree : renumberPath(tree, nodeAt(tree, lastLeaf), numbers.known);
  return { ...stream, numbers, tree: renumbered, turn: Math.max(stream.turn, lastTurn) };
}

/** The stream with blocks that the log has numbered before they are sent. */
export function nameBlocks(stream: LedgerStream, blocks: readonly KeyedBlock[]): LedgerStream {
  const { numbers } = stream;
  return { ...stream, numbers: { ...numbers, known: numbers.known.with(blocks) } };
}

/** The stream with the newest numbers of its session, which its other streams may have claimed. */
export function withSession(stream: LedgerStream, session: SessionNumbers): LedgerStream {
  if (stream.numbers.session === session) return stream;
  return { ...stream, numbers: { ...stream.numbers, session } };
}

export function memoryBytes({ branches }: LedgerStream): number {
  return branchBytes(branches);
}

/** Whether the next turn will be aligned with this request. */
export function isCurrentRequest({ current }: LedgerStream, request: WireRequest): boolean {
  return current?.request === request;
}

/** A client may return to an earlier head, and several agents may share a stream. */
const headsMax = 16;

/** Makes a head the last used one, in place of the one with the same root, and forgets the oldest. */
export function withHead(stream: LedgerStream, head: RequestHead): LedgerStream {
  const others = stream.heads.filter(({ root }) => root !== head.root);
  const kept = others.slice(1 - headsMax);
  const heads = [...kept, head];
  if (kept.length === others.length) return { ...stream, heads };
  const draft = new TreeDraft(stream.tree);
  for (const { root } of others.slice(0, others.length - kept.length)) draft.drop(draft.at(root));
  const tree = draft.done();
  const branches = stream.branches.filter(({ leaf }) => tree.nodes.get(leaf) !== undefined);
  return { ...stream, heads, tree, branches };
}

export function headOfRoot({ heads }: LedgerStream, root: NodeIndex): RequestHead | null {
  return heads.find((head) => head.root === root) ?? null;
}
