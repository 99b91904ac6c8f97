import type { Json } from "../base/index.ts";
import type { Block, Moment } from "../engine/index.ts";
import type { Draft } from "./draft.ts";
import type { WireBlock } from "./provider.ts";
import { wireBytes } from "./takeable.ts";
import type { ToolAnswer } from "./tool.ts";

/** What a call came to. */
export type Outcome = {
  readonly content: ToolAnswer;
  readonly isError: boolean;
  /** Whether a tool was run for it. */
  readonly isMade?: boolean;
};

export function failed(content: string): Outcome {
  return { content, isError: true };
}

/**
 * Adds what a call came to, as a pair with it. All results are added here, because a call has one: a provider
 * that finds two refuses the prompt, and every later one. What comes second is left out.
 */
export function addResult(draft: Draft, moment: Moment, { call, content, isError }: Outcome & Called): void {
  if (isAnswered(moment, call)) return;
  const { anchor, pair, stream, speaker } = call;
  const result: WireBlock = {
    type: "tool_result",
    tool_use_id: anchor,
    content: content as Json,
    ...(isError && { is_error: true }),
  };
  const bytes = wireBytes(result);
  draft.block({ kind: "tool-result", taint: "untrusted", stream, speaker, anchor, pair, bytes });
}

type Called = { readonly call: Block };

/** Whether there is a result for a call. */
export function isAnswered({ state }: Moment, { pair, anchor }: Pick<Block, "pair" | "anchor">): boolean {
  const group = pair === null ? [] : (state.pairs.get(pair) ?? []);
  return group.some((id) => {
    const block = state.blocks.get(id)?.block;
    return block?.kind === "tool-result" && block.anchor === anchor;
  });
}
