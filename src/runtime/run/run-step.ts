import type { AddedBlock } from "../../engine/frames/index.ts";
import type { SentTurn, View } from "../../engine/index.ts";
import { lastSentTurn, lastTurnAnswer, type Moment } from "../../engine/moment/index.ts";
import { framesBack, isOwnBlock } from "../prompt/visible-frames.ts";
import type { RunStatus } from "../run-status.ts";
import { hasResult } from "./tool-outcome.ts";

/**
 * The next step of a run. It follows from the log alone, so a run that was cut off continues like any other.
 */
export type RunStep =
  /** A prompt was sent and no answer to it was recorded. */
  | { readonly type: "close"; readonly sent: SentTurn }
  | { readonly type: "tools"; readonly calls: readonly AddedBlock[] }
  /** `rounds` counts the answers of the agent in this run. */
  | { readonly type: "send"; readonly rounds: number }
  | { readonly type: "finish" };

/** Contract: the agent has an activation. Prompts that were sent after `startSeq` belong to the run. */
export function nextRunStep(moment: Moment, view: View, { startSeq }: Pick<RunStatus, "startSeq">): RunStep {
  const [sent, answer] = [lastSentTurn(moment, view), lastTurnAnswer(moment, view)];
  if (sent !== null && sent.seq !== answer?.sentSeq) return { type: "close", sent };
  const rounds = roundsSince(view, startSeq);
  if (answer === null || rounds === 0 || answer.outcome !== "complete") return { type: "send", rounds };
  const calls = callsIn(moment, view, answer.seq);
  const open = calls.filter((call) => !hasResult(moment, call));
  if (open.length > 0) return { type: "tools", calls: open };
  return calls.length > 0 ? { type: "send", rounds } : { type: "finish" };
}

function roundsSince({ answers }: View, seq: number): number {
  let rounds = 0;
  for (let at = answers.size - 1; at >= 0 && (answers.get(at)?.sentSeq ?? 0) > seq; at -= 1) rounds += 1;
  return rounds;
}

/** The calls of the answer that the frame `seq` recorded. */
function callsIn(moment: Moment, view: View, seq: number): readonly AddedBlock[] {
  for (const frame of framesBack(moment, view)) {
    if (frame.seq < seq) return [];
    if (frame.seq === seq)
      return frame.blocks.filter((block) => block.kind === "tool-call" && isOwnBlock(block, view));
  }
  return [];
}
