import type { PricedRequest, StepRow } from "../api/contract.ts";

/** The first seq of a turn. */
export type TurnStart = { readonly turn: number; readonly seq: number };

/** The timeline reads at most this many requests, the newest. */
export const requestsRead = 1_000;
const stride = requestsRead / 2;

/** The request after which reading starts. It moves in strides, so that a new request does not reread all. */
export function newestAfter(total: number): number {
  return Math.max(0, Math.ceil((total - requestsRead) / stride) * stride);
}

/** The start of each turn. A turn that was sent more than once starts at the first request. */
export function turnStarts(
  requests: readonly Pick<PricedRequest, "turn" | "openedSeq">[],
): readonly TurnStart[] {
  const starts = new Map<number, number>();
  for (const { turn, openedSeq } of requests) {
    if (turn !== null) starts.set(turn, Math.min(openedSeq, starts.get(turn) ?? openedSeq));
  }
  return [...starts].map(([turn, seq]) => ({ turn, seq })).sort((a, b) => a.seq - b.seq);
}

/** The turn of a seq; null before the first turn. */
export function turnAt(starts: readonly TurnStart[], seq: number): number | null {
  return starts.findLast((start) => start.seq <= seq)?.turn ?? null;
}

/** The start of the next turn, or of the current one; from a start, of the turn before. */
export function turnStep(starts: readonly TurnStart[], seq: number, by: 1 | -1): number | null {
  const next =
    by === 1 ? starts.find((start) => start.seq > seq) : starts.findLast((start) => start.seq < seq);
  return next?.seq ?? null;
}

export type Tick = { readonly seq: number; readonly actor: StepRow["actor"]; readonly text: string };

const ticksMax = 600;

/** A tick for each step, at most the newest `ticksMax`. */
export function ticksOf(steps: readonly StepRow[]): readonly Tick[] {
  return steps.slice(-ticksMax).map(({ seq, actor, said, did, step }) => ({
    seq,
    actor,
    text: said ?? did ?? `step ${step}`,
  }));
}
