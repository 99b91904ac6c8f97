import type { Json } from "../../base/index.ts";
import type { Block } from "../../engine/frames/index.ts";
import type { Moment } from "../../engine/moment/index.ts";
import type { WireBlock } from "../provider.ts";
import { wireBytes } from "../sendable.ts";
import type { SpaceDraft } from "../space-draft.ts";
import type { ToolAnswer } from "../tool.ts";

/** The outcome of a tool call. */
export type ToolOutcome = {
  readonly content: ToolAnswer;
  readonly isError: boolean;
  /** True if a tool was run for the call. */
  readonly hasRun?: boolean;
};

export function failedOutcome(content: string): ToolOutcome {
  return { content, isError: true };
}

/**
 * Adds the result of a call, as a pair with it. All results are added here, because a call has only one: a
 * provider that finds two refuses this prompt and every later one. A second result is left out.
 */
export function addResult(
  draft: SpaceDraft,
  moment: Moment,
  { call, content, isError }: ToolOutcome & { readonly call: Block },
): void {
  if (hasResult(moment, call)) return;
  const { anchor, pair, stream, speaker } = call;
  const result: WireBlock = {
    type: "tool_result",
    tool_use_id: anchor,
    content: content as Json,
    ...(isError && { is_error: true }),
  };
  const bytes = wireBytes(result);
  draft.addBlock({ kind: "tool-result", taint: "untrusted", stream, speaker, anchor, pair, bytes });
}

export function hasResult({ state }: Moment, { pair, anchor }: Pick<Block, "pair" | "anchor">): boolean {
  const group = pair === null ? [] : (state.pairs.get(pair) ?? []);
  return group.some((id) => {
    const block = state.blocks.get(id)?.block;
    return block?.kind === "tool-result" && block.anchor === anchor;
  });
}
