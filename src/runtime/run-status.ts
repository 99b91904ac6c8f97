import type { StreamId } from "../base/index.ts";
import type { AddedBlock } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import type { Moment } from "../engine/moment/index.ts";
import { activationOf } from "./activation.ts";
import type { BlockIndex } from "./block-index.ts";

/** The activations of an agent in a stream, and how far the run that answers them has come. */
export type RunStatus = {
  /** Activations before the first prompt of the run: the run answers these. */
  readonly current: readonly AddedBlock[];
  /** Activations after that prompt: the next run answers these. */
  readonly later: readonly AddedBlock[];
  /** Seq of the first activation; the present seq if there is none. */
  readonly requestedSeq: number;
  /** Turns that were sent after this seq belong to the run. */
  readonly startSeq: number;
  /** True if the run has sent its first prompt. */
  readonly isStarted: boolean;
};

/**
 * A run begins after the end of the previous one and answers all activations up to its first prompt. The
 * status follows from the log alone, so a run that a crash cut off is the same run after the restart.
 */
export function runStatusOf(moment: Moment, view: View, index: BlockIndex): RunStatus {
  const activations = index
    .activations(moment.state)
    .filter((block) => isActivationOf(block, { agent: view.agent, stream: view.stream }));
  const requestedSeq = Math.min(moment.seq, ...activations.map(({ addedSeq }) => addedSeq));
  const startSeq = Math.max(index.lastRunEndSeq(view), requestedSeq);
  const promptSeq = firstSentSeq(view, startSeq);
  const isCovered = ({ addedSeq }: AddedBlock): boolean => promptSeq === null || addedSeq < promptSeq;
  return {
    current: activations.filter(isCovered),
    later: activations.filter((block) => !isCovered(block)),
    requestedSeq,
    startSeq,
    isStarted: promptSeq !== null,
  };
}

/** True if the block activates this agent in this stream. */
export function isActivationOf(
  block: AddedBlock,
  { agent, stream }: { readonly agent: string; readonly stream: StreamId },
): boolean {
  const activation = activationOf(block);
  return (
    activation !== null && "priority" in activation && activation.agent === agent && block.stream === stream
  );
}

/** The activation blocks of tool calls that have started and have no result yet. */
export function startedCalls(
  { state }: Moment,
  { agent, stream }: Pick<View, "agent" | "stream">,
  index: BlockIndex,
): readonly AddedBlock[] {
  return index.activations(state).filter((block) => {
    const activation = activationOf(block);
    const isCall = activation !== null && "call" in activation;
    return isCall && activation.agent === agent && block.stream === stream;
  });
}

function firstSentSeq({ sent }: View, after: number): number | null {
  let first: number | null = null;
  for (let at = sent.size - 1; at >= 0; at -= 1) {
    const { seq } = sent.get(at) ?? { seq: 0 };
    if (seq <= after) break;
    first = seq;
  }
  return first;
}
