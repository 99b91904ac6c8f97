import type { BlockId } from "../base/index.ts";
import type { Actor, Cause, Delta, Exchange, ProtocolName } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import type { Purpose, RequestCopy, RequestIdentity, SentRequest } from "../exchange/index.ts";
import { type FrameAttachments, IdPool, type IdSharingState } from "../log/index.ts";
import { StreamPolicy } from "../policy/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import { ContextNames } from "./context-names.ts";
import { PromptSizes } from "./prompt-sizes.ts";
import { RecentAnswers } from "./recent-answers.ts";
import { Renditions } from "./renditions.ts";
import { StreamActions } from "./stream-actions.ts";
import type { StreamIndex } from "./stream-index.ts";
import type { TurnDraft } from "./turn-draft.ts";

/** A request that has been recorded and waits for its answer. */
export type OpenExchange = {
  readonly exchange: number;
  readonly streamName: string | null;
  readonly turn: number | null;
  readonly model: string | null;
  readonly protocol: ProtocolName;
  /** The part of the request that could not be recorded, or null. */
  readonly problem: string | null;
};

/** A copied request with its parsed body and its identity. */
export type IdentifiedRequest = {
  readonly copy: RequestCopy;
  /** Null if the body could not be read. */
  readonly request: WireRequest | null;
  readonly identity: RequestIdentity;
  /** Null if the body could not be read. */
  readonly purpose: Purpose | null;
  /** Forms of the secrets that were masked in it. */
  readonly forms: readonly string[];
};

/** A stream while it is recorded, with the memory that makes recording its next turn cheap. */
export type RecordedStream = {
  readonly name: string;
  readonly index: StreamIndex;
  readonly ids: IdPool;
  readonly recentAnswers: RecentAnswers;
  readonly sizes: PromptSizes;
  readonly names: ContextNames;
  readonly renditions: Renditions;
  readonly policy: StreamPolicy;
  /** Commands of its model. */
  readonly actions: StreamActions;
  /** True if the user wants pending levels shown now; sent once, with the next wishes. */
  isUrgent: boolean;
};

/** A turn after it was appended to the log. */
export type AppendedTurn = {
  readonly copy: RequestCopy;
  readonly request: WireRequest;
  readonly exchange: Exchange;
  readonly turn: number;
  readonly draft: TurnDraft;
};

/** Deltas to append, with their cause: either a recorded request or response, or an act. */
export type AppendInput = {
  readonly deltas: readonly Delta[];
  readonly stream?: RecordedStream | null;
  readonly attached?: FrameAttachments;
} & ({ readonly type: Cause["type"] } | { readonly cause: Cause; readonly actor: Actor });

export function recordingCause(type: Cause["type"]): { readonly actor: Actor; readonly cause: Cause } {
  return { actor: type === "response" ? "model" : "client", cause: { type, step: null, reason: "" } };
}

export function newRecordedStream(name: string, index: StreamIndex, sharing: IdSharingState): RecordedStream {
  return {
    name,
    index,
    ids: new IdPool(index.stream, sharing),
    recentAnswers: new RecentAnswers(),
    sizes: new PromptSizes(),
    names: new ContextNames(),
    renditions: new Renditions(),
    policy: new StreamPolicy(),
    actions: new StreamActions(),
    isUrgent: false,
  };
}

/** A prompt that the planner or a host sent, after it was appended to the log. */
export type SentPromptNote = Pick<AppendedTurn, "request" | "turn"> &
  Pick<TurnDraft, "fresh"> & {
    readonly sent: Pick<SentRequest, "fresh" | "leaf">;
    readonly exchange: number;
    /** True if it continues the prompt before it. */
    readonly isNext: boolean;
    /** The block of each unit of the request. Null for a unit without one. */
    readonly blocks: readonly (BlockId | null)[];
  };

/** Updates the prompt size and the names of a stream with a turn that the planner sent. */
export function noteSentTurn(stream: RecordedStream, appended: AppendedTurn, state: State): void {
  const { copy, request, exchange, turn, draft } = appended;
  const { sent } = copy;
  if (sent === null) return;
  const isNext = exchange.relation !== "rewind" && exchange.relation !== "compacted";
  const { blocks, fresh } = draft;
  noteSentPrompt(stream, { sent, request, exchange: exchange.id, turn, isNext, blocks, fresh }, state);
}

export function noteSentPrompt(
  { sizes, names }: RecordedStream,
  { sent, request, exchange, turn, isNext, blocks, fresh }: SentPromptNote,
  { blocks: recorded }: State,
): void {
  sizes.noteSent({ exchange, sent, model: request.model, answerMax: request.answerTokensMax });
  const blockOf = (unit: number): BlockId | null => blocks[unit] ?? null;
  const turnOf = (unit: number): number => {
    const block = blockOf(unit);
    return block === null ? turn : (recorded.get(block)?.block.turn ?? turn);
  };
  names.addRequest({ request, sent, turn, fresh, isNext, turnOf, blockOf });
}
