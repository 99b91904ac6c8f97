import {
  type BlockId,
  type FrameHash,
  GENESIS_HASH,
  type Seq,
  type SessionId,
  type StepId,
  type StreamId,
  seqOf,
  type Turn,
  type UnitId,
  type ViewId,
} from "../base/index.ts";
import type { Approval, Decided, Mode, Permission, PermissionKey } from "./approval.ts";
import type { AddedBlock, BlockNotes, Shown } from "./block.ts";
import type { Fork, PredictedBill, RewriteReason, TurnOutcome, Unit, ViewFork } from "./delta.ts";
import type { Identity, RecordedExchange } from "./exchange.ts";
import type { Actor, Fact, FactName } from "./facts.ts";
import { Paged } from "./paged.ts";
import type { Usage } from "./usage.ts";
import type { Versions } from "./versions.ts";

/**
 * A session, folded from its frames. It is immutable, and it remembers: whatever may change is kept with
 * every value it has had, so the state as of any past seq is read from this one (see moment.ts) and nothing
 * is ever replayed.
 */
export type State = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly hash: FrameHash;
  readonly streams: Paged<Stream>;
  readonly views: Paged<View>;
  readonly blocks: Paged<BlockEntry>;
  /** The blocks of each message, and of each pair, by its id. */
  readonly messages: Paged<Group>;
  readonly pairs: Paged<Group>;
  readonly units: Paged<SentUnit>;
  readonly steps: Paged<Step>;
  /** By number, from 1: the first stands at index 0. */
  readonly exchanges: Paged<RecordedExchange>;
  readonly identity: (Identity & { readonly seq: Seq }) | null;
  /** By number, from 1: the first stands at index 0. */
  readonly approvals: Paged<RecordedApproval>;
  /** What the user said for this session; null before anybody has. */
  readonly mode: Versions<Mode | null> | null;
  /** What the user calls this session; null before anybody has said. */
  readonly name: Versions<string | null> | null;
  readonly next: NextIds;
};

export type NextIds = { readonly block: number; readonly message: number };
export type Group = readonly BlockId[];

export type Stream = {
  readonly id: StreamId;
  readonly name: string;
  readonly parent: Fork | null;
  readonly depth: number;
  readonly openedSeq: Seq;
  /** A fork goes on counting where its parent was, so that an absolute ttl keeps its meaning. */
  readonly baseTurn: Turn;
  readonly blocks: Paged<BlockId>;
  readonly turns: Paged<StreamTurn>;
  readonly runs: Paged<Run>;
  readonly reserved: { readonly block: readonly IdRange[]; readonly message: readonly IdRange[] };
  /** By turn: blocks whose first ttl ends there. Hints only; the fact decides. */
  readonly due: Paged<Group>;
};

export type StreamTurn = { readonly seq: Seq; readonly turn: Turn };
export type Run = { readonly seq: Seq };
/** From the first id to before the last. */
export type IdRange = { readonly from: number; readonly to: number };

export type BlockEntry = { readonly block: AddedBlock; readonly notes: Versions<BlockNotes> };

/** The facts of blocks as one agent in one stream has them. Untouched ones are not here: see initialFact. */
export type View = {
  readonly id: ViewId;
  readonly stream: StreamId;
  readonly agent: string;
  readonly parent: ViewFork | null;
  readonly depth: number;
  readonly openedSeq: Seq;
  readonly facts: Paged<FactLog>;
  readonly shown: Paged<Versions<Shown>>;
  readonly sent: Paged<SentTurn>;
  readonly answers: Paged<Answer>;
  readonly epochs: Paged<Epoch>;
  readonly due: Paged<Group>;
  readonly permissions: Paged<PermissionLog>;
};

export type PermissionLog = PermissionKey & { readonly log: Versions<Permission | null> };

export type FactLog = { readonly [F in FactName]?: Versions<Fact<F>> };

export type SentTurn = {
  readonly seq: Seq;
  readonly turn: Turn;
  readonly leaf: UnitId;
  readonly exchange: number;
};
export type Answer = {
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

/** Depth lets two paths of the tree find where they part without walking to the root. */
export type SentUnit = Unit & { readonly sentSeq: Seq; readonly depth: number };

export type RecordedApproval = {
  readonly approval: Approval;
  readonly log: Versions<Decided>;
};

/** What is undone and redone as one. */
export type Step = {
  readonly id: StepId;
  readonly actor: Actor;
  readonly stream: StreamId | null;
  readonly reason: string;
  readonly log: Versions<StepStand>;
};
/** Where a step stands, who brought it there, and with which frames. */
export type StepStand = { readonly done: boolean; readonly by: Actor; readonly frames: readonly Seq[] };

export function emptyState(session: SessionId): State {
  return {
    session,
    seq: seqOf(0),
    hash: GENESIS_HASH,
    streams: Paged.empty(),
    views: Paged.empty(),
    blocks: Paged.empty(),
    messages: Paged.empty(),
    pairs: Paged.empty(),
    units: Paged.empty(),
    steps: Paged.empty(),
    exchanges: Paged.empty(),
    identity: null,
    approvals: Paged.empty(),
    mode: null,
    name: null,
    next: { block: 1, message: 1 },
  };
}
