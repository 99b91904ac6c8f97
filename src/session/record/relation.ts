import type { Exchange, ExchangeRelation, ExchangeRole, RecordedExchange } from "../../engine/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { RequestCopy } from "../exchange.ts";
import { wasAnswered } from "./exchange-end.ts";
import { isAgentClient } from "./identify.ts";
import type { LastTurn } from "./stream-index.ts";

/** What a request is to the stream it belongs to. */
export type Standing = {
  readonly role: ExchangeRole;
  readonly relation: ExchangeRelation;
  readonly of: number | null;
};

type Opening = Standing & Pick<Exchange, "stream" | "model">;

/** The exchange a request opens, cut to what a log takes. */
export function openedExchange(
  id: number,
  copy: RequestCopy,
  { role, relation, of, stream, model }: Opening,
): Exchange {
  const target = `${copy.method} ${copy.target}`.slice(0, 2_000);
  const named = model === null ? null : model.slice(0, 200);
  const rendering = copy.sent?.rendering ?? "raw";
  const { id: request, length: bytes } = copy;
  return { id, request, stream, role, relation, of, model: named, target, bytes, rendering };
}

export type Comparison = {
  readonly client: string;
  readonly isCount: boolean;
  readonly request: WireRequest;
  readonly last: LastTurn | null;
  /** How much of what is said was said in the last turn too. */
  readonly shared: number;
  /** The exchange of the last turn, as it stands. */
  readonly lastExchange: RecordedExchange | null;
  /** The exchange whose answer the new text repeats, if the client has compacted its history. */
  readonly summaryOf: number | null;
  /** Whether it moves the stream on, by the word of the ledger; null where the ledger had no part in it. */
  readonly isTurn: boolean | null;
  /** Whether it follows an answer that called our tools. */
  readonly isRound: boolean;
};

/**
 * Decides by history alone, so that it holds for every client; the few places where a client must be known
 * say so. Only a turn moves a stream on.
 */
export function standingOf(comparison: Comparison): Standing {
  const { last, shared, isCount, isTurn, isRound } = comparison;
  if (isCount) return { role: "count", relation: "none", of: null };
  if (isRound && last !== null) return { role: "turn", relation: "round", of: last.exchange };
  if (isTurn === true) return { role: "turn", ...relationOf(comparison) };
  if (isTurn === false || isBeside(comparison)) {
    return { role: shared > 0 ? "compaction" : "side", relation: "none", of: null };
  }
  if (last === null) return { role: "turn", relation: "first", of: null };
  if (asksForSummary(comparison)) return { role: "compaction", relation: "none", of: null };
  return { role: "turn", ...relationOf(comparison) };
}

/** Agents ask for titles and classifications under the id of the talk, without the tools the talk has. */
function isBeside({ client, request }: Comparison): boolean {
  return isAgentClient(client) && request.tools.units.length === 0;
}

/**
 * Claude Code asks for a summary by adding its prompt to the last thing said, leaving out the answer it has
 * had to that, and moving its cache mark back to what the model said before.
 */
function asksForSummary({ client, request, last, shared, lastExchange }: Comparison): boolean {
  if (client !== "claude-code" || last === null || shared < last.talk.length) return false;
  if (!wasAnswered(lastExchange)) return false;
  const count = request.talk.length - shared;
  const added = request.messages.at(-1)?.units.slice(-count) ?? [];
  const isPrompt = count > 0 && added.length === count && added.every(({ kind }) => kind === "user");
  return isPrompt && marksOnlyAnswers(request);
}

function relationOf({ request, last, shared, lastExchange, summaryOf }: Comparison): Omit<Standing, "role"> {
  if (last === null) return { relation: "first", of: null };
  if (shared < last.talk.length) {
    return summaryOf === null
      ? { relation: "rewind", of: last.exchange }
      : { relation: "compacted", of: summaryOf };
  }
  if (request.talk.length > shared) return { relation: "append", of: null };
  return { relation: repetitionOf(lastExchange), of: last.exchange };
}

/** The same request once more: beside one that is open, after one that came to nothing, or to ask again. */
function repetitionOf(before: RecordedExchange | null): ExchangeRelation {
  if (before !== null && before.end === null) return "twin";
  return before === null || wasAnswered(before) ? "rewind" : "retry";
}

function marksOnlyAnswers({ messages }: WireRequest): boolean {
  const marked = messages.filter(({ units }) => units.some(({ mark }) => mark !== null));
  return marked.length > 0 && marked.every(({ role }) => role === "assistant");
}
