import { must, ok, type Result } from "../../base/index.ts";
import type { Delta, ExchangeEnd } from "../../engine/frames/index.ts";
import type { SentTurn, View } from "../../engine/index.ts";
import { viewOfRun } from "../prompt/plan-prompt.ts";
import type { ModelAnswer } from "../provider.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";

/** How a prompt ended: with an answer, a failure or an interruption. */
export type PromptEnd = {
  readonly outcome: "complete" | "failed" | "interrupted";
  readonly totalMs: number;
  readonly bytes: number;
  readonly answer?: ModelAnswer;
};

export function promptEndDeltas(
  view: View,
  { turn, exchange }: SentTurn,
  promptEnd: PromptEnd,
): readonly Delta[] {
  const { outcome, totalMs, bytes, answer } = promptEnd;
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

/** Records the end of a prompt without an answer, or with one that a crash kept from the log. */
export function recordPromptEnd(deps: RunDeps, run: AgentRun, end: PromptEnd): Result<void> {
  const view = viewOfRun(deps.log.moment(), run);
  const sent = must(view.sent.last, "what is closed was sent");
  const deltas = promptEndDeltas(view, sent, end);
  const appended = deps.log.append({ stream: view.stream, actor: "client", cause: "response", deltas });
  return appended.ok ? ok(undefined) : appended;
}
