import {
  blocksOf,
  factValue,
  isWithheld,
  notesOf,
  now,
  type Place,
  placeOf,
  type State,
  type View,
} from "../../engine/index.ts";
import type { ShownMemory } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";

/** The memories of a view that are to be in sight: neither archived nor said anew, withheld or purged. */
export async function shownMemories(
  state: State,
  view: View,
  store: Pick<Store, "content">,
): Promise<readonly ShownMemory[]> {
  const moment = now(state);
  const shown: ShownMemory[] = [];
  for (const { id, kind, content, taint } of blocksOf(moment, view)) {
    const place = kind === "memory" ? placeOf(moment, view, id) : null;
    if (place === null || !isInSight(place) || notesOf(moment, id)?.purged === true) continue;
    const stored = await store.content(content);
    const text = stored.ok ? storedWords(stored.value, kind) : null;
    if (text !== null) shown.push({ block: id, text, taint });
  }
  return shown;
}

function isInSight(place: Place): boolean {
  const isKept = factValue(place, "archive") === null && factValue(place, "supersession") === null;
  return isKept && !isWithheld(place);
}
