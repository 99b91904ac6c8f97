import { blocksOf, isWithheld, notesOf, now, placeOf, type State, type View } from "../../engine/index.ts";
import type { ShownMemory } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";
import { isKept } from "./kept-memory.ts";

/** The memories of a view that are to be in sight: kept, and neither withheld nor purged. */
export async function shownMemories(
  state: State,
  view: View,
  store: Pick<Store, "content">,
): Promise<readonly ShownMemory[]> {
  const moment = now(state);
  const shown: ShownMemory[] = [];
  for (const { id, kind, content, taint } of blocksOf(moment, view)) {
    const place = kind === "memory" ? placeOf(moment, view, id) : null;
    if (place === null || !isKept(place) || isWithheld(place)) continue;
    if (notesOf(moment, id)?.purged === true) continue;
    const stored = await store.content(content);
    const text = stored.ok ? storedWords(stored.value, kind) : null;
    if (text !== null) shown.push({ block: id, text, taint });
  }
  return shown;
}
