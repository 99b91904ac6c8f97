import {
  type AddedBlock,
  lastAnswer,
  lastSent,
  type Moment,
  type SentTurn,
  type View,
} from "../engine/index.ts";
import type { Asked } from "./asked.ts";
import { framesBack, isOwn } from "./focus.ts";
import { isAnswered } from "./result.ts";

/**
 * What a run has to do next. It follows from the log alone, so a run that was cut off goes on like any other.
 */
export type NextStep =
  /** A prompt went out and no answer to it was written down. */
  | { readonly type: "close"; readonly sent: SentTurn }
  | { readonly type: "tools"; readonly calls: readonly AddedBlock[] }
  /** `rounds`: how often the agent has answered in this run. */
  | { readonly type: "send"; readonly rounds: number }
  | { readonly type: "finish" };

/** Contract: the agent is asked. What it was sent after a run began is that run's. */
export function nextStep(moment: Moment, view: View, { beganSeq }: Pick<Asked, "beganSeq">): NextStep {
  const [sent, answer] = [lastSent(moment, view), lastAnswer(moment, view)];
  if (sent !== null && sent.seq !== answer?.sentSeq) return { type: "close", sent };
  const rounds = roundsSince(view, beganSeq);
  if (answer === null || rounds === 0 || answer.outcome !== "complete") return { type: "send", rounds };
  const calls = callsIn(moment, view, answer.seq);
  const open = calls.filter((call) => !isAnswered(moment, call));
  if (open.length > 0) return { type: "tools", calls: open };
  return calls.length > 0 ? { type: "send", rounds } : { type: "finish" };
}

function roundsSince({ answers }: View, seq: number): number {
  let rounds = 0;
  for (let at = answers.size - 1; at >= 0 && (answers.get(at)?.sentSeq ?? 0) > seq; at -= 1) rounds += 1;
  return rounds;
}

/** The calls of an answer, by the frame that wrote it down. */
function callsIn(moment: Moment, view: View, seq: number): readonly AddedBlock[] {
  for (const frame of framesBack(moment, view)) {
    if (frame.seq < seq) return [];
    if (frame.seq === seq)
      return frame.blocks.filter((block) => block.kind === "tool-call" && isOwn(block, view));
  }
  return [];
}
