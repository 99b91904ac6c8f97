import type { UnitFacts } from "./place.ts";

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
