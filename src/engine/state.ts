import {
  type BlockId,
  type FrameHash,
  GENESIS_HASH,
  PagedTable,
  type Seq,
  type SessionId,
  type StepId,
  type StreamId,
  seqOf,
  type Turn,
  type UnitId,
  type ViewId,
} from "../base/index.ts";
import type { Approval, ApprovalDecision, Mode, Permission, PermissionKey } from "./frames/approval.ts";
import type { AddedBlock, BlockAttributes, NextIds, Shown } from "./frames/block.ts";
import type {
  PredictedBill,
  RewriteReason,
  StreamFork,
  TurnOutcome,
  Unit,
  ViewFork,
} from "./frames/delta.ts";
import type { RecordedExchange, SessionIdentity, Usage } from "./frames/exchange.ts";
import type { Actor, Fact, FactName } from "./frames/facts.ts";
import type { Versions } from "./versions.ts";

/**
 * A session, folded from its frames. It is immutable and keeps history: anything that may change is stored
 * with every value it has had, so the state as of any past seq is read from this one (see moment.ts) without
 * replaying frames.
 */
export type State = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly hash: FrameHash;
  readonly streams: PagedTable<Stream>;
  readonly views: PagedTable<View>;
  readonly blocks: PagedTable<BlockEntry>;
  /** The blocks of each message, by message id; `pairs` has the blocks of each pair, by pair id. */
  readonly messages: PagedTable<BlockGroup>;
  readonly pairs: PagedTable<BlockGroup>;
  readonly units: PagedTable<SentUnit>;
  readonly steps: PagedTable<Step>;
  /** By number from 1, so exchange 1 is at index 0. */
  readonly exchanges: PagedTable<RecordedExchange>;
  readonly identity: (SessionIdentity & { readonly seq: Seq }) | null;
  /** By number from 1, so approval 1 is at index 0. */
  readonly approvals: PagedTable<RecordedApproval>;
  /** The mode the user set for this session. Null if it was never set. */
  readonly mode: Versions<Mode | null> | null;
  /** The name the user gave this session. Null if it was never named. */
  readonly name: Versions<string | null> | null;
  readonly next: NextIds;
};

export type BlockGroup = readonly BlockId[];

export type Stream = {
  readonly id: StreamId;
  readonly name: string;
  readonly parent: StreamFork | null;
  readonly depth: number;
  readonly openedSeq: Seq;
  /** A fork continues its parent's count of turns, so that an absolute ttl keeps its meaning. */
  readonly baseTurn: Turn;
  readonly blocks: PagedTable<BlockId>;
  readonly turns: PagedTable<StreamTurn>;
  readonly runs: PagedTable<RunStart>;
  readonly reserved: { readonly block: readonly ReservedRange[]; readonly message: readonly ReservedRange[] };
  /** By turn: blocks whose first ttl ends there. These are hints only; the ttl fact decides. */
  readonly due: PagedTable<BlockGroup>;
};

export type StreamTurn = { readonly seq: Seq; readonly turn: Turn };
export type RunStart = { readonly seq: Seq };
/** Ids from `from` to `to`, without `to` itself. */
export type ReservedRange = { readonly from: number; readonly to: number };

export type BlockEntry = { readonly block: AddedBlock; readonly attributes: Versions<BlockAttributes> };

/**
 * The facts of blocks for one agent in one stream. Facts that were never set are not here: see initialFact.
 */
export type View = {
  readonly id: ViewId;
  readonly stream: StreamId;
  readonly agent: string;
  readonly parent: ViewFork | null;
  readonly depth: number;
  readonly openedSeq: Seq;
  readonly facts: PagedTable<FactLog>;
  readonly shown: PagedTable<Versions<Shown>>;
  readonly sent: PagedTable<SentTurn>;
  readonly answers: PagedTable<TurnAnswer>;
  readonly epochs: PagedTable<Epoch>;
  readonly due: PagedTable<BlockGroup>;
  readonly permissions: PagedTable<PermissionLog>;
};

export type PermissionLog = PermissionKey & { readonly log: Versions<Permission | null> };

export type FactLog = { readonly [F in FactName]?: Versions<Fact<F>> };

export type SentTurn = {
  readonly seq: Seq;
  readonly turn: Turn;
  readonly leaf: UnitId;
  readonly exchange: number;
};
export type TurnAnswer = {
  readonly seq: Seq;
  readonly sentSeq: Seq;
  readonly turn: Turn;
  readonly outcome: TurnOutcome;
  readonly usage: Usage | null;
};
export type Epoch = {
  readonly seq: Seq;
  readonly cut: UnitId | null;
  readonly reason: RewriteReason;
  readonly means: "own" | "provider";
  readonly predicted?: PredictedBill;
};

/** `depth` lets two paths of the tree find their common unit without walking to the root. */
export type SentUnit = Unit & { readonly sentSeq: Seq; readonly depth: number };

export type RecordedApproval = {
  readonly approval: Approval;
  readonly log: Versions<ApprovalDecision>;
};

/** The frames that are undone and redone together. */
export type Step = {
  readonly id: StepId;
  readonly actor: Actor;
  readonly stream: StreamId | null;
  readonly reason: string;
  readonly log: Versions<StepStatus>;
};
/** Whether a step is done or undone, who did or undid it, and with which frames. */
export type StepStatus = { readonly done: boolean; readonly by: Actor; readonly frames: readonly Seq[] };

export function emptyState(session: SessionId): State {
  return {
    session,
    seq: seqOf(0),
    hash: GENESIS_HASH,
    streams: PagedTable.empty(),
    views: PagedTable.empty(),
    blocks: PagedTable.empty(),
    messages: PagedTable.empty(),
    pairs: PagedTable.empty(),
    units: PagedTable.empty(),
    steps: PagedTable.empty(),
    exchanges: PagedTable.empty(),
    identity: null,
    approvals: PagedTable.empty(),
    mode: null,
    name: null,
    next: { block: 1, message: 1 },
  };
}
