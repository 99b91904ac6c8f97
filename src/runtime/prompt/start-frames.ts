import type { AddedBlock, BlockKind } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { modelTraits } from "../../protocols/index.ts";
import { isOwnBlock, type VisibleFrame } from "./visible-frames.ts";

type PathOwner = { readonly view: View; readonly model: string };

/**
 * The frames as a new path may begin with them. Reasoning is left out, because it is bound to the prefix it
 * was made behind. A result without its call is left out, and a call without its result: the result of a call
 * in a parent stream may have come after the fork.
 */
export function startFrames(owner: PathOwner, frames: readonly VisibleFrame[]): readonly VisibleFrame[] {
  const keysOf = (wanted: BlockKind): ReadonlySet<string> =>
    new Set(frames.flatMap(({ blocks }) => blocks.filter(({ kind }) => kind === wanted).map(pairKey)));
  const [calls, results] = [keysOf("tool-call"), keysOf("tool-result")];
  const isPaired = (block: AddedBlock): boolean =>
    (block.kind !== "tool-result" || calls.has(pairKey(block))) &&
    (block.kind !== "tool-call" || results.has(pairKey(block)));
  const paired = frames.map((frame) => ({ ...frame, blocks: frame.blocks.filter(isPaired) }));
  const lastAnswer = answerOfOpenCalls(owner, paired);
  return paired
    .map((frame) => (frame === lastAnswer ? frame : withoutReasoning(frame)))
    .filter(({ blocks }) => blocks.length > 0);
}

/**
 * The answer whose calls have just been made. A model with optional thinking requires the reasoning behind
 * its calls and does not bind it to the prefix; a model that binds its reasoning can continue without it.
 */
function answerOfOpenCalls({ view, model }: PathOwner, frames: readonly VisibleFrame[]): VisibleFrame | null {
  if (modelTraits(model).isBound) return null;
  const isAnswer = (block: AddedBlock): boolean => isOwnBlock(block, view) && block.kind !== "tool-result";
  const last = frames.findLast(({ blocks }) => blocks.some(isAnswer)) ?? null;
  return last?.blocks.some(({ kind }) => kind === "tool-call") ? last : null;
}

function withoutReasoning(frame: VisibleFrame): VisibleFrame {
  return { ...frame, blocks: frame.blocks.filter(({ kind }) => kind !== "reasoning") };
}

function pairKey({ pair, anchor }: AddedBlock): string {
  return `${pair} ${anchor}`;
}
