import type { BlockKind } from "../../engine/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import type { Numbered } from "../desk-port.ts";
import type { Item } from "./draft.ts";
import type { Head } from "./head.ts";
import { bytesOf, isOwn, type Place, pathTo } from "./place.ts";
import type { SizedBlock } from "./saying.ts";

/** Everything that is sent up to a place and with some items behind it, without what is ours. */
export function sizedPath(head: Head, last: Place, items: readonly Item[]): readonly SizedBlock[] {
  const said = pathTo(last).filter((place) => !isOwn(place) && place.facts.type !== "none");
  return [
    ...(head.isTold ? sizedHead(head) : []),
    ...said.map((place) => sized(place.numbered, place.facts.kind, bytesOf(place).length)),
    ...sizedItems(items),
  ];
}

export function sizedHead({ units }: Head): readonly SizedBlock[] {
  const client = units.filter(({ origin }) => origin !== "aperture");
  return client.map(({ numbered, bytes }) => sized(numbered, "system", bytes.length));
}

export function sizedItems(items: readonly Item[]): readonly SizedBlock[] {
  const client = items.filter(({ origin, facts }) => origin !== "aperture" && facts.type !== "none");
  return client.map(({ numbered, facts, bytes }) => sized(numbered, facts.kind, bytes.length));
}

/** What was sent before anybody numbered it counts too. */
function sized(numbered: Numbered | null, kind: BlockKind, length: number): SizedBlock {
  return numbered ?? { kind, tokens: estimateTokens(length, null).count };
}
