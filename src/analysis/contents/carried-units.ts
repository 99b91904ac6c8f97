import type { ClientRequest } from "../play/stream-player.ts";
import type { UnitNames } from "../play/unit-names.ts";
import type { SizedPromptUnit } from "../play/unit-sizer.ts";

/**
 * A unit in the prompts of a stream: when it came, how many prompts carried it, when an answer last used it.
 */
export type CarriedUnit = {
  readonly unit: SizedPromptUnit;
  readonly arrived: number;
  /** How many prompts carried it. */
  prompts: number;
  /**
   * The last request whose answer uses a name of which this unit is the most recent copy. Null if none does.
   */
  usedAt: number | null;
  /** How many prompts carried it after its last use; if it was never used, after the first prompt. */
  idlePrompts: number;
};

/** All units of one stream in the order they came. Equal content at two positions counts as one unit. */
export function carriedUnits(
  requests: readonly ClientRequest[],
  unitNames: UnitNames,
): readonly CarriedUnit[] {
  const byContent = new Map<string, CarriedUnit>();
  const copies = new Map<string, CarriedUnit>();
  let known = 0;
  for (const [at, { units, used, isExtension }] of requests.entries()) {
    if (!isExtension) copies.clear();
    const seen = new Set<string>();
    for (const [index, unit] of units.entries()) {
      const carried = byContent.get(unit.bare) ?? {
        unit,
        arrived: at,
        prompts: 0,
        usedAt: null,
        idlePrompts: -1,
      };
      byContent.set(unit.bare, carried);
      if (!seen.has(unit.bare)) countPrompt(carried);
      seen.add(unit.bare);
      const isFresh = !isExtension || index >= known;
      if (isFresh) for (const name of unitNames.namesIn(unit)) copies.set(name, carried);
    }
    known = units.length;
    for (const name of used) noteUse(copies.get(name), at);
  }
  return [...byContent.values()];
}

function countPrompt(carried: CarriedUnit): void {
  carried.prompts += 1;
  carried.idlePrompts += 1;
}

function noteUse(carried: CarriedUnit | undefined, at: number): void {
  if (carried === undefined) return;
  carried.usedAt = at;
  carried.idlePrompts = 0;
}
