import type { PricedRequest, StepRow } from "../api/contract.ts";

/** Where a turn begins in the log. */
export type TurnStart = { readonly turn: number; readonly seq: number };

/** So many requests are read for the turns: of more the newest, which people go back to. */
export const requestsRead = 1_000;
const stride = requestsRead / 2;

/** Behind which request they begin. In strides, so that one more does not have all of them read anew. */
export function newestAfter(total: number): number {
  return Math.max(0, Math.ceil((total - requestsRead) / stride) * stride);
}

/** A turn that was sent more than once begins where it was sent first. */
export function turnStarts(
  requests: readonly Pick<PricedRequest, "turn" | "openedSeq">[],
): readonly TurnStart[] {
  const starts = new Map<number, number>();
  for (const { turn, openedSeq } of requests) {
    if (turn !== null) starts.set(turn, Math.min(openedSeq, starts.get(turn) ?? openedSeq));
  }
  return [...starts].map(([turn, seq]) => ({ turn, seq })).sort((a, b) => a.seq - b.seq);
}

/** The turn a seq belongs to; null: none has begun. */
export function turnAt(starts: readonly TurnStart[], seq: number): number | null {
  return starts.findLast((start) => start.seq <= seq)?.turn ?? null;
}

/** Back to where this turn began, or the one before if that is where we are; forward to the next. */
export function turnStep(starts: readonly TurnStart[], seq: number, by: 1 | -1): number | null {
  const next =
    by === 1 ? starts.find((start) => start.seq > seq) : starts.findLast((start) => start.seq < seq);
  return next?.seq ?? null;
}

export type Tick = { readonly seq: number; readonly actor: StepRow["actor"]; readonly words: string };

export const ticksMax = 600;

/** What was done, where it was done; of very many the newest. */
export function ticksOf(steps: readonly StepRow[]): readonly Tick[] {
  return steps.slice(-ticksMax).map(({ seq, actor, said, did, step }) => ({
    seq,
    actor,
    words: said ?? did ?? `step ${step}`,
  }));
}
