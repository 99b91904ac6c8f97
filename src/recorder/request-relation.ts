import type { Exchange, RecordedExchange } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { exchangeOf, now } from "../engine/moment/index.ts";
import type { Purpose, SentRequest } from "../exchange/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import { wasAnswered } from "./exchange-record.ts";
import { newTexts } from "./recent-answers.ts";
import type { IdentifiedRequest, RecordedStream } from "./recorded-stream.ts";
import type { LastTurn } from "./stream-index.ts";
import { sharedMessageKeys } from "./unit-alignment.ts";

/** How a request relates to its stream: as a turn that continues, repeats or rewinds it, or beside it. */
export type RequestRelation = {
  readonly role: Exchange["role"];
  readonly relation: Exchange["relation"];
  /** The exchange it relates to; null if it is none. */
  readonly of: number | null;
};

export type RelationInput = {
  readonly purpose: Purpose;
  readonly request: WireRequest;
  readonly last: LastTurn | null;
  /** Number of leading message keys shared with the last turn. */
  readonly shared: number;
  /** The exchange of the last turn. */
  readonly lastExchange: RecordedExchange | null;
  /** The exchange whose answer the new text repeats, if the client compacted its history. */
  readonly summaryOf: number | null;
  /** The request as the planner sent it; null if it went unchanged. */
  readonly sent: Pick<SentRequest, "isTurn" | "isRound"> | null;
};

/** Only a turn adds to a stream. */
function classifyRequest(input: RelationInput): RequestRelation {
  const { purpose, last, shared, sent } = input;
  if (purpose === "count") return { role: "count", relation: "none", of: null };
  if (sent?.isRound === true && last !== null) return { role: "turn", relation: "round", of: last.exchange };
  // A turn that the ledger could not render is recorded beside its stream: its units are not known.
  const isTurn = purpose === "turn" && sent?.isTurn !== false;
  if (isTurn) return { role: "turn", ...relationOf(input) };
  return { role: shared > 0 ? "compaction" : "side", relation: "none", of: null };
}

function relationOf({
  request,
  last,
  shared,
  lastExchange,
  summaryOf,
}: RelationInput): Omit<RequestRelation, "role"> {
  if (last === null) return { relation: "first", of: null };
  if (shared < last.messageKeys.length) {
    return summaryOf === null
      ? { relation: "rewind", of: last.exchange }
      : { relation: "compacted", of: summaryOf };
  }
  if (request.messageKeys.length > shared) return { relation: "append", of: null };
  return { relation: repetitionOf(lastExchange), of: last.exchange };
}

/** The relation of a repeated request: its twin is still open, its first try failed, or it was answered. */
function repetitionOf(before: RecordedExchange | null): Exchange["relation"] {
  if (before !== null && before.end === null) return "twin";
  return before === null || wasAnswered(before) ? "rewind" : "retry";
}

type ReadableRequest = IdentifiedRequest & { readonly request: WireRequest; readonly purpose: Purpose };

/** Relates a request to its stream by comparing it with the last turn. */
export function relateRequest(
  state: State,
  { copy, purpose, request }: ReadableRequest,
  stream: RecordedStream | null,
): RequestRelation {
  const last = stream?.index.last ?? null;
  const lastExchange = last === null ? null : exchangeOf(now(state), last.exchange);
  const shared = last === null ? 0 : sharedMessageKeys(request, last);
  const departs = last !== null && shared < last.messageKeys.length;
  const summaryOf = departs
    ? (stream?.recentAnswers.repeatedIn(newTexts(request, last.messageKeys)) ?? null)
    : null;
  return classifyRequest({ purpose, request, last, shared, lastExchange, summaryOf, sent: copy.sent });
}
