import { must, ok, type Result } from "../base/index.ts";
import type { Delta, ExchangeEnd, SentTurn, View } from "../engine/index.ts";
import type { ModelAnswer } from "./provider.ts";
import { viewIn } from "./rendering.ts";
import type { Run, RunPlace } from "./run-place.ts";

/** How a prompt came to its end. */
export type Closing = {
  readonly outcome: "complete" | "failed" | "interrupted";
  readonly totalMs: number;
  readonly bytes: number;
  readonly answer?: ModelAnswer;
};

export function closingDeltas(view: View, { turn, exchange }: SentTurn, closing: Closing): readonly Delta[] {
  const { outcome, totalMs, bytes, answer } = closing;
  const usage = answer?.usage ?? null;
  const end: ExchangeEnd = {
    exchange,
    outcome,
    status: null,
    usage,
    bytes,
    firstByteMs: null,
    totalMs,
    stop: answer?.stop ?? null,
    problem: null,
  };
  return [
    { type: "turn-answered", view: view.id, turn, outcome, usage },
    { type: "exchange-closed", end },
  ];
}

/** A prompt that got no answer, or one that nobody wrote down before we were ended. */
export function recordClosed(place: RunPlace, run: Run, closing: Closing): Result<void> {
  const view = viewIn(place.log.moment(), run);
  const sent = must(view.sent.last, "what is closed was sent");
  const deltas = closingDeltas(view, sent, closing);
  const appended = place.log.append({ stream: view.stream, actor: "client", cause: "response", deltas });
  return appended.ok ? ok(undefined) : appended;
}
