import type { Json } from "../../base/index.ts";
import { contextEdit, spokenIn, type ToolUse } from "../../protocols/index.ts";
import type { Item } from "./draft.ts";
import { bytesOf, type Place, pathTo, type Showing, type UnitFacts } from "./place.ts";

/** A unit as far as a provider's edit looks at it. */
type EditedUnit = {
  readonly facts: UnitFacts;
  readonly opens: boolean;
  readonly showing: Showing;
  readonly bytes: () => Uint8Array;
  /** Where it stands already; what is known of it is not read again. */
  readonly place: Place | null;
};

/** What is sent: a path, and what comes behind it. */
export type EditedPath = { readonly path: readonly Place[]; readonly items: readonly Item[] };

/** Whether a result is to be left out by the provider. */
type IsCleared = (unit: Pick<EditedUnit, "place" | "showing">) => boolean;

const wasCleared: IsCleared = ({ showing }) => showing.isCleared === true;

/**
 * The field by which the provider is asked to leave out what a path says it leaves out; null where it cannot
 * be asked for just that.
 */
export function editOf({ path, items }: EditedPath, isCleared: IsCleared = wasCleared): Edit | null {
  const uses = usesIn([...path.map(placedUnit), ...items.map(itemUnit)], isCleared);
  const field = contextEdit(uses);
  if (field === null) return null;
  return { field: field as Json, cleared: uses.filter((use) => use.isCleared).length };
}
export type Edit = {
  readonly field: Json;
  /** How many results the provider should say it has left out. */
  readonly cleared: number;
};

/** Whether the provider leaves out anything up to a place, or of what comes behind it. */
export function hasCleared(end: Place, items: readonly Item[]): boolean {
  return end.hasCleared || items.some(({ showing }) => showing.isCleared === true);
}

/** What a request with that path has to ask for; null: nothing, or what cannot be asked for. */
export function editBehind(end: Place, items: readonly Item[]): Edit | null {
  if (!hasCleared(end, items)) return null;
  return editOf({ path: pathTo(end).filter(({ sent }) => sent !== null), items });
}

function placedUnit(place: Place): EditedUnit {
  const { facts, opens, showing } = place;
  return { facts, opens, showing, place, bytes: () => bytesOf(place) };
}

function itemUnit({ facts, opens, showing, bytes, from, place }: Item): EditedUnit {
  return { facts, opens, showing, place: from ?? place, bytes: () => bytes };
}

/** The tool uses of a request, oldest first. */
function usesIn(units: readonly EditedUnit[], isCleared: IsCleared): readonly ToolUse[] {
  const results = units.filter(({ facts }) => facts.type === "tool_result");
  const cleared = new Set(results.filter(isCleared).map(({ facts }) => facts.callId));
  let message = 0;
  return units.flatMap((unit) => {
    const { type, callId } = unit.facts;
    if (unit.opens) message += 1;
    if (!type.endsWith("tool_use")) return [];
    return [{ name: nameOf(unit), type, message, isCleared: cleared.has(callId) }];
  });
}

const names = new WeakMap<Place, string>();

function nameOf({ place, bytes }: EditedUnit): string {
  const known = place === null ? undefined : names.get(place);
  if (known !== undefined) return known;
  const spoken = spokenIn(bytes());
  const name = spoken?.type === "call" ? spoken.name : "";
  if (place !== null) names.set(place, name);
  return name;
}
