import type { Exchange, RecordedExchange } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { exchangeOf, now } from "../engine/moment/index.ts";
import { isAgentClient } from "../exchange/index.ts";
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
  readonly client: string;
  readonly isCount: boolean;
  readonly request: WireRequest;
  readonly last: LastTurn | null;
  /** Number of leading message keys shared with the last turn. */
  readonly shared: number;
  /** The exchange of the last turn. */
  readonly lastExchange: RecordedExchange | null;
  /** The exchange whose answer the new text repeats, if the client compacted its history. */
  readonly summaryOf: number | null;
  /** The planner's report of whether the request is a turn; null if the planner did not plan it. */
  readonly isTurn: boolean | null;
  /** True if it follows an answer that called our tools. */
  readonly isRound: boolean;
};

/**
 * Classifies by history alone, so that it works for every client; the few rules for one client name it. Only
 * a turn adds to a stream.
 */
function classifyRequest(input: RelationInput): RequestRelation {
  const { last, shared, isCount, isTurn, isRound } = input;
  if (isCount) return { role: "count", relation: "none", of: null };
  if (isRound && last !== null) return { role: "turn", relation: "round", of: last.exchange };
  if (isTurn === true) return { role: "turn", ...relationOf(input) };
  if (isTurn === false || isSideRequest(input)) {
    return { role: shared > 0 ? "compaction" : "side", relation: "none", of: null };
  }
  if (last === null) return { role: "turn", relation: "first", of: null };
  if (asksForSummary(input)) return { role: "compaction", relation: "none", of: null };
  return { role: "turn", ...relationOf(input) };
}

/** Agents request titles and classifications under the id of the conversation, but without its tools. */
function isSideRequest({ client, request }: RelationInput): boolean {
  return isAgentClient(client) && request.tools.units.length === 0;
}

/**
 * Claude Code requests a summary this way: it adds its prompt to the last user message, leaves out the answer
 * to that message, and moves its cache mark back to the previous answer.
 */
function asksForSummary({ client, request, last, shared, lastExchange }: RelationInput): boolean {
  if (client !== "claude-code" || last === null || shared < last.messageKeys.length) return false;
  if (!wasAnswered(lastExchange)) return false;
  const count = request.messageKeys.length - shared;
  const added = request.messages.at(-1)?.units.slice(-count) ?? [];
  const isPrompt = count > 0 && added.length === count && added.every(({ kind }) => kind === "user");
  return isPrompt && marksOnlyAnswers(request);
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

function marksOnlyAnswers({ messages }: WireRequest): boolean {
  const marked = messages.filter(({ units }) => units.some(({ mark }) => mark !== null));
  return marked.length > 0 && marked.every(({ role }) => role === "assistant");
}

type ReadableRequest = IdentifiedRequest & { readonly request: WireRequest };

/** Relates a request to its stream by comparing it with the last turn. */
export function relateRequest(
  state: State,
  { copy, identity, request }: ReadableRequest,
  stream: RecordedStream | null,
): RequestRelation {
  const last = stream?.index.last ?? null;
  const lastExchange = last === null ? null : exchangeOf(now(state), last.exchange);
  const shared = last === null ? 0 : sharedMessageKeys(request, last);
  const departs = last !== null && shared < last.messageKeys.length;
  const summaryOf = departs
    ? (stream?.recentAnswers.repeatedIn(newTexts(request, last.messageKeys)) ?? null)
    : null;
  const isCount = copy.target.includes("/count_tokens");
  const isTurn = copy.sent?.isTurn ?? null;
  const isRound = copy.sent?.isRound === true;
  const { client } = identity;
  return classifyRequest({
    client,
    isCount,
    request,
    last,
    shared,
    lastExchange,
    summaryOf,
    isTurn,
    isRound,
  });
}
