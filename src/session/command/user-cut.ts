import { must } from "../../base/index.ts";
import { isSpoken, type Plan, tokensAs } from "../../commands/index.ts";
import { blocksOf, type Moment, placeOf, shownOf, type View } from "../../engine/index.ts";
import type { CutRow } from "../read/command-rows.ts";
import { fitOf } from "../read/state-row.ts";
import { fillingOf, lastUsage } from "../read/window-row.ts";

const showing = ["level-set", "archive-set", "withhold-set", "block-purged"] as const;

/** What a rewrite for this alone would send anew: from the first block on that is shown now and changes. */
export function cutFor(
  moment: Moment,
  view: View,
  plan: Pick<Plan, "proposed" | "freedTokens">,
): CutRow | null {
  const changed = plan.proposed.deltas.flatMap((delta) =>
    "block" in delta && typeof delta.block === "number" && showing.some((type) => type === delta.type)
      ? [delta.block]
      : [],
  );
  return cutAt(moment, view, { blocks: changed, freed: plan.freedTokens });
}

/** The share by which blocks are smaller than we have guessed: none is larger than the provider's whole. */
export function fitIn(moment: Moment, view: View): number {
  const stream = must(moment.state.streams.get(view.stream), "a view has a stream");
  return fitOf(moment, stream, view);
}

export function cutAt(
  moment: Moment,
  view: View,
  { blocks, freed }: { readonly blocks: readonly number[]; readonly freed: number },
): CutRow | null {
  const wanted = new Set(blocks);
  let [first, before, total] = [0, 0, 0];
  for (const { id } of blocksOf(moment, view)) {
    const shown = shownOf(moment, view, id);
    if (shown === "absent") continue;
    const place = first === 0 && wanted.has(id) ? placeOf(moment, view, id) : null;
    if (place !== null && !isSpoken(place)) [first, before] = [id, total];
    total += tokensAs(moment, id, shown) ?? tokensAs(moment, id, "original") ?? 0;
  }
  if (first === 0) return null;
  const usage = lastUsage(moment, view);
  // What no block of ours accounts for, such as tools, stands in front of everything.
  const other = usage === null ? 0 : Math.max(0, fillingOf(usage) - total);
  const less = Math.max(0, Math.min(freed, total - before));
  const share = fitIn(moment, view);
  return {
    block: first,
    kept: Math.floor((other + before) * share),
    rewritten: Math.floor((total - before - less) * share),
    freed: Math.floor(less * share),
  };
}
