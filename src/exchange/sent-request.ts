import type { BodyForm, PredictedBill, RewriteReason, Shown, UnitOrigin } from "../engine/frames/index.ts";
import type { Pieces } from "./decode-body.ts";
import type { NumberedBlock } from "./numbered-block.ts";

/** A request as the ledger sent it, for the log. */
export type SentRequest = {
  readonly rendering: BodyForm;
  /** The planner's key of the stream. */
  readonly streamKey: string;
  /** The session's generated name, if its client gives it none. */
  readonly generatedName: string | null;
  /** The seq of the wishes that this request was planned with. */
  readonly wishesSeq: number;
  /** The id of the request's last unit, which depends on all units before it, see `nodeId`. */
  readonly leaf: string;
  /** Units sent for the first time, each after its parent. */
  readonly fresh: readonly SentRequestUnit[];
  /** Units of the client that the log knows in another form. */
  readonly aliases: readonly UnitAlias[];
  /** Whether it is a turn of its stream. A compaction, a count or a side question is not. */
  readonly isTurn: boolean;
  /** True for a round: it continues an answer that called our tools, without a new request of the client. */
  readonly isRound?: true;
  /** The body that went upstream, in shared memory. */
  readonly body: Pieces;
  readonly length: number;
  /** Null unless this request starts an epoch. */
  readonly epoch: SentEpoch | null;
};

export type SentEpoch = {
  readonly cut: string | null;
  readonly reason: RewriteReason;
  readonly means: "own" | "provider";
  readonly predicted: PredictedBill | null;
};

export type SentRequestUnit = {
  readonly id: string;
  readonly parent: string | null;
  readonly origin: UnitOrigin;
  readonly key: string;
  /** Its index among the client's units, counted over tools, system and messages. Null if it is ours. */
  readonly clientIndex: number | null;
  /** The block it belongs to. Null if the planner has not numbered it. */
  readonly numbered: NumberedBlock | null;
  /** The form in which it shows its block. */
  readonly as: Shown;
  /** True if the provider is asked to leave it out. */
  readonly cleared?: true;
  /** The bytes as in the wire unit, without cache marks. */
  readonly bytes: Uint8Array;
};

/** A client's unit, by its index over tools, system and messages, that is a known block in another form. */
export type UnitAlias = { readonly clientIndex: number; readonly numbered: NumberedBlock };
