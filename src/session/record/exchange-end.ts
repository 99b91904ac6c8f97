import { must } from "../../base/index.ts";
import type { ExchangeEnd, RecordedExchange, SentTurn, TurnOutcome, View } from "../../engine/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { ResponseCopy } from "../exchange.ts";

export const openEnd = {
  status: null,
  usage: null,
  bytes: 0,
  firstByteMs: null,
  totalMs: 0,
  stop: null,
  problem: null,
} as const;

/** Whether the model had its say: a whole answer that is no refusal. */
export function wasAnswered(exchange: RecordedExchange | null): boolean {
  const end = exchange?.end ?? null;
  return end?.outcome === "complete" && end.status !== null && end.status < 300;
}

export function turnOutcome({ outcome, status }: ResponseCopy, answer: WireAnswer | null): TurnOutcome {
  if (outcome === "aborted") return "interrupted";
  if (outcome === "failed" || status === null || status >= 400) return "failed";
  return outcome === "complete" && answer?.isWhole === true ? "complete" : "truncated";
}

/** How an exchange ended. `problem` is what was wrong with the record of its request, if anything. */
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

/** Exchanges end soon after they began, so the search from the end is short. */
export function turnSentWith({ sent }: View, exchange: number): SentTurn | null {
  for (let at = sent.size - 1; at >= 0; at -= 1) {
    const turn = must(sent.get(at), "sent turns have no gaps");
    if (turn.exchange === exchange) return turn;
  }
  return null;
}
