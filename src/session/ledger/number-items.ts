import { estimateTokens } from "../../tokens/index.ts";
import type { Item } from "./draft.ts";
import type { NumberDraft, StreamNumbers } from "./numbers.ts";
import { countOn, type Place } from "./place.ts";

export type Numbering = {
  readonly numbers: StreamNumbers;
  readonly draft: NumberDraft;
  /** The last place before the items. */
  readonly end: Place;
  readonly model: string | null;
};

/** Gives what is new its numbers: one for each block, one for each message of the client. */
export function numberItems(items: readonly Item[], numbering: Numbering): readonly Item[] {
  const { numbers, draft, end, model } = numbering;
  const counts = new Map<string, number>();
  draft.open();
  return items.map((item) => {
    const { key, kind, type } = item.facts;
    if (item.extra !== null) draft.open();
    if (item.numbered !== null || type === "none") return item;
    const nth = counts.get(key) ?? (numbers.knows(key) ? countOn(end, key) : 0);
    counts.set(key, nth + 1);
    const { count: tokens } = estimateTokens(item.bytes.length, model);
    return { ...item, numbered: draft.number({ key, kind, tokens }, nth) };
  });
}
