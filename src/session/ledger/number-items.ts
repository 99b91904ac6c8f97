import type { TokenGauge } from "../unit-tokens.ts";
import type { Item } from "./draft.ts";
import type { NumberDraft, StreamNumbers } from "./numbers.ts";
import { countOn, type Place } from "./place.ts";

export type Numbering = {
  readonly numbers: StreamNumbers;
  readonly draft: NumberDraft;
  /** The last place before the items. */
  readonly end: Place;
  readonly gauge: TokenGauge;
};

/**
 * Gives what is new its numbers: one for each block, one for each message of the client, and one for what
 * stands in such a message without being the client's: a message has one speaker.
 */
export function numberItems(items: readonly Item[], numbering: Numbering): readonly Item[] {
  const { numbers, draft, end, gauge } = numbering;
  const counts = new Map<string, number>();
  draft.open();
  return items.map((item, at) => {
    const { key, kind, type } = item.facts;
    const isOwn = item.origin === "aperture";
    const wasOwn = items[at - 1]?.origin === "aperture";
    if (item.extra !== null || isOwn !== wasOwn) draft.open();
    if (item.numbered !== null || type === "none") return item;
    const nth = counts.get(key) ?? (numbers.knows(key) ? countOn(end, key) : 0);
    counts.set(key, nth + 1);
    const tokens = gauge.count({ bytes: item.bytes, kind });
    return { ...item, numbered: draft.number({ key, kind, tokens }, () => nth) };
  });
}
