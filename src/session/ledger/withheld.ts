import { type Item, inOtherWords } from "./draft.ts";
import { bytesOf, type Place, type UnitFacts } from "./place.ts";
import type { Reworded } from "./rewrite.ts";

/** Content that must not be sent any more, by the key of its unit, with what stands in its place. */
export type Withheld = ReadonlyMap<string, Uint8Array>;

type Named = Pick<UnitFacts, "key" | "kind" | "callId">;

/**
 * What stands for a unit that must not be sent; undefined where it may. The result of a call is withheld in
 * every form a client gives it: its key would be another one each time.
 */
export function withheldFor(withheld: Withheld, { key, kind, callId }: Named): Uint8Array | undefined {
  const exact = withheld.get(key);
  if (exact !== undefined || kind !== "tool-result" || callId === null || withheld.size === 0) return exact;
  for (const [other, bytes] of withheld) if (other.startsWith(`user:${callId}:`)) return bytes;
  return undefined;
}

export function withheldWords(withheld: Withheld, facts: Named): Reworded | undefined {
  const bytes = withheldFor(withheld, facts);
  return bytes === undefined
    ? undefined
    : { bytes, showing: { as: "placeholder", tokens: null, borrows: [] } };
}

/** Whether what a place shows is nothing of ours, or has to stand there in any case. */
export function isPlain(place: Place, withheld: Withheld, nonce: string): boolean {
  return withheldFor(withheld, place.facts) !== undefined || !Buffer.from(bytesOf(place)).includes(nonce);
}

/** An item as it may be sent. */
export function withheldItem(item: Item, withheld: Withheld): Item {
  const words = item.origin === "aperture" ? undefined : withheldWords(withheld, item.facts);
  return words === undefined ? item : inOtherWords(item, words);
}
