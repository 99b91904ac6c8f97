import type {
  BlockId,
  ContentHash,
  MessageId,
  Seq,
  StreamId,
  Turn,
  UnitId,
  ViewId,
} from "../../base/index.ts";
import type { Approval, ApprovalStatus, Mode, Permission } from "./approval.ts";
import type { Block, Level, Rendition, Scope, Shown, Tokens } from "./block.ts";
import type { Exchange, ExchangeEnd, SessionIdentity, Usage } from "./exchange.ts";
import type { Actor, Fact, FactName } from "./facts.ts";

/**
 * One change inside a frame: readonly data, one discriminant, noun + past tense. A delta that sets a value
 * carries `from` and `to`, so undo needs no look-up and the reducer can check that it starts from the present
 * value.
 */
export type Delta = StreamDelta | BlockDelta | FactDelta | LedgerDelta | ExchangeDelta | RuleDelta;
export type DeltaType = Delta["type"];

/** Streams, views, ids. */
export type StreamDelta =
  | {
      readonly type: "stream-opened";
      readonly stream: StreamId;
      readonly name: string;
      readonly parent: StreamFork | null;
    }
  | {
      readonly type: "view-opened";
      readonly view: ViewId;
      readonly stream: StreamId;
      readonly agent: string;
      readonly parent: ViewFork | null;
    }
  | {
      readonly type: "ids-reserved";
      readonly stream: StreamId;
      readonly of: "block" | "message";
      readonly from: number;
      readonly to: number;
    }
  | { readonly type: "run-started"; readonly stream: StreamId; readonly from: number; readonly to: number };

/** The point where a stream leaves its parent: it shares everything up to that seq, and nothing after it. */
export type StreamFork = { readonly stream: StreamId; readonly seq: Seq };
export type ViewFork = { readonly view: ViewId; readonly seq: Seq };

/** Blocks and their attributes, which are the same in every view. */
export type BlockDelta =
  | { readonly type: "block-added"; readonly block: Block }
  | { readonly type: "block-removed"; readonly block: Block }
  | { readonly type: "block-purged"; readonly block: BlockId }
  | { readonly type: "tokens-counted"; readonly block: BlockId; readonly tokens: Tokens }
  | {
      readonly type: "topics-set";
      readonly block: BlockId;
      readonly from: readonly string[];
      readonly to: readonly string[];
    }
  | { readonly type: "scope-set"; readonly block: BlockId; readonly from: Scope; readonly to: Scope }
  | {
      readonly type: "rendition-set";
      readonly block: BlockId;
      readonly level: Level;
      readonly from: Rendition | null;
      readonly to: Rendition | null;
    };

/** One delta type per fact of a view: `level-set`, `pin-set`, `archive-set`, and so on. */
export type FactDelta = { [F in FactName]: FactSet<F> }[FactName];
export type FactSet<F extends FactName> = {
  readonly type: `${F}-set`;
  readonly view: ViewId;
  readonly block: BlockId;
  readonly from: Fact<F>;
  readonly to: Fact<F>;
};

/** The ledger as sent upstream: the tree of units, the path each turn took through it, and our rewrites. */
export type LedgerDelta =
  | { readonly type: "unit-sent"; readonly unit: Unit }
  | {
      readonly type: "turn-sent";
      readonly view: ViewId;
      readonly turn: Turn;
      /** The last unit of the request; its chain of parents is the whole request. */
      readonly leaf: UnitId;
      readonly exchange: number;
    }
  | {
      readonly type: "turn-answered";
      readonly view: ViewId;
      readonly turn: Turn;
      readonly outcome: TurnOutcome;
      readonly usage: Usage | null;
    }
  | {
      readonly type: "epoch-started";
      readonly view: ViewId;
      readonly epoch: number;
      /** The parent of the first unit that was rendered anew. Null is the root. */
      readonly cut: UnitId | null;
      readonly reason: RewriteReason;
      readonly means: "own" | "provider";
      /** The expected cost. Absent if it was not computed, and in older logs. */
      readonly predicted?: PredictedBill;
    };

/** The identity of the session, and the raw requests it came in. */
export type ExchangeDelta =
  | { readonly type: "session-identified"; readonly identity: SessionIdentity }
  | { readonly type: "exchange-opened"; readonly exchange: Exchange }
  | { readonly type: "exchange-closed"; readonly end: ExchangeEnd };

/** Commands that wait for the user, and the rules the user set for later: permissions, mode, name. */
export type RuleDelta =
  | { readonly type: "approval-asked"; readonly approval: Approval }
  | {
      readonly type: "approval-decided";
      readonly approval: number;
      readonly from: ApprovalStatus;
      readonly to: ApprovalStatus;
      readonly by: Actor;
      readonly reason: string;
    }
  | {
      readonly type: "permission-set";
      readonly view: ViewId;
      readonly actor: Actor;
      readonly verb: string;
      readonly from: Permission | null;
      readonly to: Permission | null;
    }
  /** Null if the configured mode applies. */
  | { readonly type: "mode-set"; readonly from: Mode | null; readonly to: Mode | null }
  /** Null if the session is named after its content. */
  | { readonly type: "name-set"; readonly from: string | null; readonly to: string | null };

export const turnOutcomes = ["complete", "truncated", "interrupted", "failed"] as const;
export type TurnOutcome = (typeof turnOutcomes)[number];

export const rewriteReasons = ["cold", "fork", "model", "price", "pressure", "user"] as const;
export type RewriteReason = (typeof rewriteReasons)[number];

/** The reason of a rewrite, for people. */
export const rewriteReasonTexts: Readonly<Record<RewriteReason, string>> = {
  cold: "the cache had gone cold",
  fork: "the client went another way",
  model: "another model answers",
  price: "it pays for itself",
  pressure: "window pressure",
  user: "the user asked for it",
};

/** The cost of a request's prompt with a rewrite and without it, in the price of input tokens. */
export type PredictedBill = {
  readonly rewritten: number;
  readonly unchanged: number;
  /** The saving of every later request. */
  readonly savedEach: number;
};

export type UnitOrigin = "client" | "model" | "aperture";

/** The smallest thing an upstream request is made of, with the bytes it was first sent with. */
export type Unit = {
  readonly id: UnitId;
  readonly stream: StreamId;
  readonly parent: UnitId | null;
  readonly message: MessageId | null;
  readonly origin: UnitOrigin;
  readonly anchor: string;
  readonly bytes: ContentHash;
  readonly shows: readonly ShownBlock[];
  /** Set if the provider was told to leave it out: it was sent, but the model does not see it. */
  readonly cleared?: true;
};
export type ShownBlock = { readonly block: BlockId; readonly as: Shown };

/** A delta type that is missing here does not compile. */
const everyType: Readonly<Record<DeltaType, true>> = {
  "stream-opened": true,
  "view-opened": true,
  "ids-reserved": true,
  "run-started": true,
  "block-added": true,
  "block-removed": true,
  "block-purged": true,
  "tokens-counted": true,
  "topics-set": true,
  "scope-set": true,
  "rendition-set": true,
  "level-set": true,
  "pin-set": true,
  "ttl-set": true,
  "focus-set": true,
  "selection-set": true,
  "archive-set": true,
  "withhold-set": true,
  "reference-set": true,
  "supersession-set": true,
  "unit-sent": true,
  "turn-sent": true,
  "turn-answered": true,
  "epoch-started": true,
  "session-identified": true,
  "exchange-opened": true,
  "exchange-closed": true,
  "approval-asked": true,
  "approval-decided": true,
  "permission-set": true,
  "mode-set": true,
  "name-set": true,
};
export const deltaTypes = Object.keys(everyType) as readonly DeltaType[];

/** Every content a delta points to, so that the store knows which contents are still needed. */
export function deltaContents(delta: Delta): readonly ContentHash[] {
  switch (delta.type) {
    case "block-added":
    case "block-removed":
      return [delta.block.content];
    case "rendition-set":
      return [delta.from, delta.to].flatMap((rendition) => (rendition ? [rendition.content] : []));
    case "unit-sent":
      return [delta.unit.bytes];
    case "approval-asked":
      return delta.approval.text === null ? [] : [delta.approval.text];
    default:
      return [];
  }
}
