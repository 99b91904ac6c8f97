import type { AddedBlock, BlockKind, View } from "../engine/index.ts";
import { modelTraits } from "../protocols/index.ts";
import { type FocusedFrame, isOwn } from "./focus.ts";

/** Whose path it is, and who reads it. */
export type Starting = { readonly view: View; readonly model: string };

/**
 * What a path may begin with. Reasoning is bound to what stood before it, and here something else does. A
 * result without its call is nothing, nor is a call without its result: that of a thread's parent may have
 * come after the fork.
 */
export function startable(starting: Starting, frames: readonly FocusedFrame[]): readonly FocusedFrame[] {
  const keysOf = (wanted: BlockKind): ReadonlySet<string> =>
    new Set(frames.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === wanted).map(pairKey)));
  const [calls, results] = [keysOf("tool-call"), keysOf("tool-result")];
  const isWhole = (block: AddedBlock): boolean =>
    (block.kind !== "tool-result" || calls.has(pairKey(block))) &&
    (block.kind !== "tool-call" || results.has(pairKey(block)));
  const whole = frames.map((frame) => ({ ...frame, blocks: frame.blocks.filter(isWhole) }));
  const running = runningAnswer(starting, whole);
  return whole
    .map((frame) => (frame === running ? frame : withoutReasoning(frame)))
    .filter(({ blocks }) => blocks.length > 0);
}

/**
 * The answer whose calls have just been made. A model that thinks when it is told to wants to see what led to
 * them, and does not bind it; one that does bind it can go on without.
 */
function runningAnswer({ view, model }: Starting, frames: readonly FocusedFrame[]): FocusedFrame | null {
  if (modelTraits(model).isBound) return null;
  const isSaid = (block: AddedBlock): boolean => isOwn(block, view) && block.kind !== "tool-result";
  const last = frames.findLast(({ blocks }) => blocks.some(isSaid)) ?? null;
  return last?.blocks.some(({ kind }) => kind === "tool-call") ? last : null;
}

function withoutReasoning(frame: FocusedFrame): FocusedFrame {
  return { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "reasoning") };
}

function pairKey({ pair, anchor }: AddedBlock): string {
  return `${pair} ${anchor}`;
}
