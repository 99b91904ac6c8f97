import { isCommandTool } from "../../commands/index.ts";
import type { BodyOverlap, OwnLineFilter, PlannedRequest } from "../../exchange/index.ts";
import type { LedgerStream, NodeIndex, Plan, SentPath } from "../../ledger/index.ts";
import { continuesOwnLine, isOwnLine, opensOwnLines } from "../../notes/index.ts";
import { type BodyFeature, protocolOf } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import { hasBeta, type ShellRequest } from "./plan-context.ts";
import { type Request, readingOf } from "./read-request.ts";

/** Many small pieces cost more to send than one copy of them. */
const onePieceBytesMax = 64 * 1024;

/** The beta headers that the body needs and the client did not send. */
function betasFor({ meta, wire }: Request, { hasSelfClearing, clearedResults }: Plan): readonly string[] {
  const features: BodyFeature[] = [
    ...(hasSelfClearing ? (["self-clearing"] as const) : []),
    ...(clearedResults === null ? [] : (["context-edit"] as const)),
  ];
  const { betaFor } = protocolOf(wire).traits;
  return features.map(betaFor).filter((beta) => !hasBeta(meta, beta));
}

export type PlanPosition = {
  readonly live: LiveStream;
  readonly overlap: BodyOverlap;
  /** It continues an answer, without a new request of the client. */
  readonly isRound: boolean;
};

/** Turns a plan into the body for the relay and the report for the recorder. */
export function plannedRequestOf(
  request: ShellRequest,
  plan: Plan,
  { live, overlap, isRound }: PlanPosition,
): PlannedRequest {
  const { meta, body, isLost, context } = request;
  const { style, isFullReport } = context;
  const isSmall = plan.length <= onePieceBytesMax;
  const pieces = isSmall ? [Buffer.concat(plan.pieces)] : plan.pieces;
  const { length, report, commandOffer } = plan;
  const { leaf, isTurn, epoch } = report;
  // The log cannot place units whose predecessors it is missing.
  const reported =
    isLost && !isFullReport
      ? { fresh: [], aliases: [], body: [] }
      : { fresh: report.fresh, aliases: report.aliases, body: pieces };
  const { key: streamKey, generatedName, wishes } = live;
  const named = { rendering: style, streamKey, generatedName, wishesSeq: wishes.latest?.seq ?? 0 };
  return {
    requestId: meta.id,
    rendering: style,
    pieces,
    length,
    betas: betasFor(request, plan),
    mayRetry: true,
    needsAnswer: isTurn || isRound,
    sent: { ...named, leaf, isTurn, length, epoch, ...reported, ...(isRound ? { isRound } : {}) },
    clientBody: body,
    received: readingOf(request),
    overlap,
    refusal: null,
    ownLineFilter: style === "managed" ? ownLineFilter(live.ledger.nonce) : null,
    isOwnTool: commandOffer.hasTools ? isCommandTool : null,
    commandNonce: commandOffer.nonce,
  };
}

function ownLineFilter(nonce: string): OwnLineFilter {
  const isOwn = (line: string): boolean => isOwnLine(line, nonce);
  return { isOwn, opens: opensOwnLines, continues: continuesOwnLine };
}

/** A planned request until its answer is read. */
export type InFlightRequest = {
  readonly live: LiveStream;
  readonly request: Request;
  /** The plan of the ledger. Null if the request is sent unchanged. */
  readonly planned: LedgerPlan | null;
  /** Rounds before this one for the same client request. */
  readonly rounds: number;
  /** When the first round began; null if there was none. */
  readonly firstRoundMs: number | null;
  /** Output tokens of the rounds before this one. */
  readonly answerTokens: number;
  /**
   * Set if this sends the client's body after our version was refused: if it is accepted, ours was at fault.
   */
  readonly isTrial?: true;
};

/** A plan of the ledger, with the ledger before and after it: a retry after a refusal plans anew. */
export type LedgerPlan = {
  readonly before: LedgerStream;
  readonly after: LedgerStream;
  /** The node the answer is added to; null if the answer is not kept. */
  readonly leaf: NodeIndex | null;
  readonly path: SentPath;
  /** How many tool results the provider was asked to clear; null if it was not asked. */
  readonly clearedResults: number | null;
};

/** The rounds of a request that has had none. */
export const noRounds = { rounds: 0, firstRoundMs: null, answerTokens: 0 } as const;
