import { factValue, isPinned, notesOf, type Place, placeOf } from "../../engine/index.ts";

/**
 * Whether a memory stands: neither archived nor said anew by another one. That an answer says the same or
 * otherwise makes it stale, no more: whether the answer is true, words do not tell.
 */
export function isKept(place: Place): boolean {
  return factValue(place, "archive") === null && !isSaidAnew(place);
}

function isSaidAnew(place: Place): boolean {
  const { moment, view } = place;
  const newer = factValue(place, "supersession");
  return newer !== null && placeOf(moment, view, newer)?.block.kind === "memory";
}

/** Whether a model may settle it by itself: not the user's words, and neither shared, selected nor pinned. */
export function isOfModel(place: Place): boolean {
  const isShared = notesOf(place.moment, place.block.id)?.scope === "project";
  return place.block.taint !== "user" && !isShared && !factValue(place, "selection") && !isPinned(place);
}
