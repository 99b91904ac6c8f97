import { must } from "../base/index.ts";
import type { Exchange, ExchangeEnd, RecordedExchange, TurnOutcome } from "../engine/frames/index.ts";
import type { SentTurn, View } from "../engine/index.ts";
import type { RequestCopy, ResponseCopy } from "../exchange/index.ts";
import type { WireAnswer } from "../protocols/index.ts";

/** The end of an exchange that got no response. */
export const emptyEnd = {
  status: null,
  usage: null,
  bytes: 0,
  firstByteMs: null,
  totalMs: 0,
  stop: null,
  problem: null,
} as const;

/** True if the exchange ended with a complete answer that is no error. */
export function wasAnswered(exchange: RecordedExchange | null): boolean {
  const end = exchange?.end ?? null;
  return end?.outcome === "complete" && end.status !== null && end.status < 300;
}

export function turnOutcome({ outcome, status }: ResponseCopy, answer: WireAnswer | null): TurnOutcome {
  if (outcome === "aborted") return "interrupted";
  if (outcome === "failed" || status === null || status >= 400) return "failed";
  return outcome === "complete" && answer?.isWhole === true ? "complete" : "truncated";
}

/** The end of an exchange. The input's `problem` is that of the recorded request, if any. */
export function exchangeEnd(
  { exchange, problem }: { readonly exchange: number; readonly problem: string | null },
  copy: ResponseCopy,
  answer: WireAnswer | null,
): ExchangeEnd {
  const { status, length, firstByteMs, totalMs, addedMs = null } = copy;
  const isBroken = copy.outcome === "complete" && status === 200 && answer !== null && !answer.isWhole;
  const rounded = (ms: number): number => Math.max(0, Math.round(ms));
  return {
    exchange,
    outcome: isBroken ? "truncated" : copy.outcome,
    status,
    usage: answer?.usage ?? null,
    bytes: length,
    firstByteMs: firstByteMs === null ? null : rounded(firstByteMs),
    totalMs: rounded(totalMs),
    ...(addedMs === null ? {} : { addedMicros: rounded(addedMs * 1_000) }),
    stop: answer?.stop?.slice(0, 200) ?? null,
    problem: problem ?? problemOf(copy, answer),
  };
}

function problemOf({ body, length, problem }: ResponseCopy, answer: WireAnswer | null): string | null {
  if (problem !== null) return problem.slice(0, 500);
  if (body === null && length > 0) return "its answer was too large to keep";
  return answer?.problem?.slice(0, 500) ?? null;
}

/**
 * The turn that was sent with an exchange. Exchanges end soon after they start, so it searches from the end.
 */
export function turnOfExchange({ sent }: View, exchange: number): SentTurn | null {
  for (let at = sent.size - 1; at >= 0; at -= 1) {
    const turn = must(sent.get(at), "sent turns have no gaps");
    if (turn.exchange === exchange) return turn;
  }
  return null;
}

type ExchangeStart = Pick<Exchange, "role" | "relation" | "of" | "stream" | "model">;

/** The exchange that a request opens, with texts cut to what the log accepts. */
export function openedExchange(
  id: number,
  copy: RequestCopy,
  { role, relation, of, stream, model }: ExchangeStart,
): Exchange {
  const target = `${copy.method} ${copy.target}`.slice(0, 2_000);
  const named = model === null ? null : model.slice(0, 200);
  const rendering = copy.sent?.rendering ?? "raw";
  const { id: request, length: bytes, protocol } = copy;
  return { id, request, stream, role, relation, of, model: named, protocol, target, bytes, rendering };
}
