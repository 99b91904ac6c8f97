import type { StreamId } from "../base/index.ts";
import type { AddedBlock, Moment, View } from "../engine/index.ts";
import { activationOf } from "./activation.ts";
import type { Standing } from "./standing.ts";

/** What an agent is asked in a stream, and how far the run that answers it has come. */
export type Asked = {
  /** Everything that was asked before the run put its first prompt: this is what it answers. */
  readonly answering: readonly AddedBlock[];
  /** What was asked later: the next run answers it. */
  readonly waiting: readonly AddedBlock[];
  /** Where the first of it was asked; now, where nothing is. */
  readonly askedSeq: number;
  /** Turns that were sent later than this are the run's. */
  readonly beganSeq: number;
  /** Whether the run has put its first prompt. */
  readonly isBegun: boolean;
};

/**
 * A run begins behind the end of the one before, and answers everything that was asked until its first
 * prompt. It all follows from the log, so a run that was cut off is the same run for whoever takes it up.
 */
export function askedOf(moment: Moment, view: View, standing: Standing): Asked {
  const activations = standing
    .activations(moment.state)
    .filter((block) => isAsking(block, { agent: view.agent, stream: view.stream }));
  const askedSeq = Math.min(moment.seq, ...activations.map(({ addedSeq }) => addedSeq));
  const beganSeq = Math.max(standing.endedSeq(view), askedSeq);
  const promptSeq = firstSentSeq(view, beganSeq);
  const isCovered = ({ addedSeq }: AddedBlock): boolean => promptSeq === null || addedSeq < promptSeq;
  return {
    answering: activations.filter(isCovered),
    waiting: activations.filter((block) => !isCovered(block)),
    askedSeq,
    beganSeq,
    isBegun: promptSeq !== null,
  };
}

/** Whether an activation asks this agent to act in this stream. */
export function isAsking(
  block: AddedBlock,
  { agent, stream }: { readonly agent: string; readonly stream: StreamId },
): boolean {
  const activation = activationOf(block);
  return (
    activation !== null && "priority" in activation && activation.agent === agent && block.stream === stream
  );
}

/** The blocks that say of calls of an agent in a stream that they have begun and are not over. */
export function begunCalls(
  { state }: Moment,
  { agent, stream }: Pick<View, "agent" | "stream">,
  standing: Standing,
): readonly AddedBlock[] {
  return standing.activations(state).filter((block) => {
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
