import type { BlockKind } from "../../engine/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import type { Numbered } from "../desk-port.ts";
import type { Item } from "./draft.ts";
import type { Head } from "./head.ts";
import { bytesOf, isBlock, type Place, pathTo } from "./place.ts";
import type { SizedBlock } from "./saying.ts";

/** Everything that is sent up to a place and with some items behind it, without what is ours. */
export function sizedPath(head: Head, last: Place, items: readonly Item[]): readonly SizedBlock[] {
  const said = pathTo(last).filter(isCounted);
  return [
    ...(head.isTold ? sizedHead(head) : []),
    ...said.map((place) => shownSize(place, bytesOf(place).length)),
    ...sizedItems(items),
  ];
}

export function sizedHead({ units }: Head): readonly SizedBlock[] {
  const client = units.filter(({ origin }) => origin !== "aperture");
  return client.map(({ numbered, bytes }) => sized(numbered, "system", bytes.length));
}

/** All that stands in front, with what is ours: it takes room too. */
export function headTokens(head: Head): number {
  const own = [...head.ownTools, ...(head.instructions === null ? [] : [head.instructions])];
  const bytes = own.reduce((sum, { length }) => sum + length, 0);
  return sizedHead(head).reduce((sum, { tokens }) => sum + tokens, 0) + estimateTokens(bytes, null).count;
}

export function sizedItems(items: readonly Item[]): readonly SizedBlock[] {
  return items.filter(isCounted).map((item) => shownSize(item, item.bytes.length));
}

/** What is pruned is in the cold, whatever stands in its place. */
function isCounted(shown: Pick<Place, "origin" | "facts" | "showing">): boolean {
  return isBlock(shown) && shown.facts.type !== "none" && shown.showing.as !== "placeholder";
}

/** What is shown is what is counted: a block that is shown shorter counts for less. */
function shownSize(
  { numbered, facts, showing }: Pick<Place, "numbered" | "facts" | "showing">,
  length: number,
) {
  const block = sized(numbered, facts.kind, length);
  return showing.tokens === null ? block : { ...block, tokens: showing.tokens };
}

/** What was sent before anybody numbered it counts too. */
function sized(numbered: Numbered | null, kind: BlockKind, length: number): SizedBlock {
  return numbered ?? { kind, tokens: estimateTokens(length, null).count };
}
