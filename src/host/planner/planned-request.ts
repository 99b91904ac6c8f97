import { isCommandTool } from "../../commands/index.ts";
import { noOverlap, type PlannedRequest, type RequestMeta } from "../../exchange/index.ts";
import type { LedgerNode, RenderInput, RenderResult, SentPath } from "../../ledger/index.ts";
import { type BodyFeature, protocolOf, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import type { ReceivedRequest } from "./read-request.ts";

/** Many small pieces cost more to send than one copy of them. */
const onePieceBytesMax = 64 * 1024;

/** The client itself asked for messages that clear themselves. */
export function hasClearAt(meta: RequestMeta, request: WireRequest): boolean {
  return hasBeta(meta, protocolOf(request).traits.betaFor("self-clearing"));
}

function hasBeta({ headers }: RequestMeta, beta: string): boolean {
  return headers["anthropic-beta"]?.includes(beta) === true;
}

/** The beta headers that the body needs and the client did not send. */
function betasFor(
  { meta, request }: ReceivedRequest,
  { hasSelfClearing, clearedResults }: RenderResult,
): readonly string[] {
  const features: BodyFeature[] = [
    ...(hasSelfClearing ? (["self-clearing"] as const) : []),
    ...(clearedResults === null ? [] : (["context-edit"] as const)),
  ];
  const { betaFor } = protocolOf(request).traits;
  return features.map(betaFor).filter((beta) => !hasBeta(meta, beta));
}

export type StreamRenderInput = RenderInput & {
  /** The log is missing some of the units sent before. */
  readonly isLost: boolean;
};

type PlannedRequestInput = {
  readonly stream: LiveStream;
  readonly received: ReceivedRequest;
  readonly rendered: RenderResult;
  readonly input: StreamRenderInput;
};

/** Turns a rendering into the body for the relay and the report for the recorder. */
export function plannedRequestOf({ stream, received, rendered, input }: PlannedRequestInput): PlannedRequest {
  const { meta, body } = received;
  const { style, isLost, isFullReport } = input;
  const isSmall = rendered.length <= onePieceBytesMax;
  const pieces = isSmall ? [Buffer.concat(rendered.pieces)] : rendered.pieces;
  const { length, report } = rendered;
  const { leaf, isTurn, epoch } = report;
  // The log cannot place units whose predecessors it is missing.
  const reported =
    isLost && !isFullReport
      ? { fresh: [], aliases: [], body: [] }
      : { fresh: report.fresh, aliases: report.aliases, body: pieces };
  const { key: streamKey, generatedName, wishes } = stream;
  const named = { rendering: style, streamKey, generatedName, wishesSeq: wishes?.seq ?? 0 };
  return {
    requestId: meta.id,
    rendering: style,
    pieces,
    length,
    betas: betasFor(received, rendered),
    mayRetry: true,
    needsAnswer: isTurn,
    sent: { ...named, leaf, isTurn, length, epoch, ...reported },
    clientBody: body,
    received,
    overlap: noOverlap,
    refusal: null,
    ownLineFilter: style === "managed" ? stream.ledger.ownLineFilter : null,
    isOwnTool: rendered.path.head.ownTools.length > 0 ? isCommandTool : null,
    commandNonce: rendered.path.head.hasTextCommands ? stream.nonce : null,
  };
}

/** A planned request until its answer is read. */
export type InFlightRequest = {
  readonly stream: LiveStream;
  readonly received: ReceivedRequest;
  /** The ledger node the answer is appended to; null if the answer is not kept. */
  readonly leaf: LedgerNode | null;
  readonly path: SentPath | null;
  /** How many tool results the provider was asked to clear; null if it was not asked. */
  readonly clearedResults: number | null;
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

/** The fields of a request that no ledger rendered. */
export const notRendered = {
  path: null,
  clearedResults: null,
  rounds: 0,
  firstRoundMs: null,
  answerTokens: 0,
} as const;
