import { must } from "../base/index.ts";
import { type CommandPlan, isModelSpeech, tokensInForm } from "../commands/index.ts";
import type { View } from "../engine/index.ts";
import { blockViewOf, type Moment, shownOf, viewBlocks } from "../engine/moment/index.ts";
import { fitShare } from "../queries/index.ts";
import { lastUsage, windowTokens } from "../recorder/index.ts";
import type { CutRow } from "./act-answers.ts";

const shownDeltaTypes = ["level-set", "archive-set", "withhold-set", "block-purged"] as const;

/** Estimates a rewrite for this plan alone: it starts at the first block that is shown now and changes. */
export function estimatePlanCut(
  moment: Moment,
  view: View,
  plan: Pick<CommandPlan, "proposal" | "freedTokens">,
): CutRow | null {
  const changed = plan.proposal.deltas.flatMap((delta) =>
    "block" in delta && typeof delta.block === "number" && shownDeltaTypes.some((type) => type === delta.type)
      ? [delta.block]
      : [],
  );
  return estimateCut(moment, view, { blocks: changed, freed: plan.freedTokens });
}

/** The share that fits estimated block sizes to the provider's count of the window. */
export function fitShareOf(moment: Moment, view: View): number {
  const stream = must(moment.state.streams.get(view.stream), "a view has a stream");
  return fitShare(moment, stream, view);
}

export function estimateCut(
  moment: Moment,
  view: View,
  { blocks, freed }: { readonly blocks: readonly number[]; readonly freed: number },
): CutRow | null {
  const changed = new Set(blocks);
  let [first, before, total] = [0, 0, 0];
  for (const { id } of viewBlocks(moment, view)) {
    const shown = shownOf(moment, view, id);
    if (shown === "absent") continue;
    const blockView = first === 0 && changed.has(id) ? blockViewOf(moment, view, id) : null;
    if (blockView !== null && !isModelSpeech(blockView)) [first, before] = [id, total];
    total += tokensInForm(moment, id, shown) ?? tokensInForm(moment, id, "original") ?? 0;
  }
  if (first === 0) return null;
  const usage = lastUsage(moment, view);
  // Tokens that belong to no block, such as tools, come before all blocks.
  const other = usage === null ? 0 : Math.max(0, windowTokens(usage) - total);
  const freedBehind = Math.max(0, Math.min(freed, total - before));
  const share = fitShareOf(moment, view);
  return {
    block: first,
    kept: Math.floor((other + before) * share),
    rewritten: Math.floor((total - before - freedBehind) * share),
    freed: Math.floor(freedBehind * share),
  };
}
