import { must } from "../base/index.ts";
import type { Level, Shown } from "./block.ts";
import type { Focus, Pin } from "./facts.ts";
import {
  factValue,
  notesOf,
  type Place,
  pairOf,
  runNow,
  shownOf,
  streamOf,
  turnNow,
  wasAnsweredSince,
  wasEverShown,
} from "./moment.ts";

export type Lifecycle = "fresh" | "active" | "referenced" | "stale" | "compressed" | "archived" | "evicted";
export type Zone = "primacy" | "middle" | "recency" | "cold";

/** Unreferenced for so many turns is stale. */
export const staleTurns = 5;
/** A focus ends with its run, and after so many turns at the latest. */
export const focusTurnsMax = 20;

/** A name for a combination of facts, derived and never stored. The first that fits. */
export function lifecycleOf(place: Place): Lifecycle {
  const { moment, view, block } = place;
  const shown = shownOf(moment, view, block.id);
  const archived = factValue(place, "archive") !== null;
  if (notesOf(moment, block.id)?.purged) return "evicted";
  if (archived) return shown === "absent" && wasEverShown(moment, view, block.id) ? "evicted" : "archived";
  if (isBelowOriginal(shown)) return "compressed";
  if (!isAnswered(place)) return "fresh";
  if (isFocused(place)) return "active";
  if (block.kind === "memory") return memoryLifecycle(place);
  const reference = factValue(place, "reference");
  if (turnOfStream(place) - reference.turn >= staleTurns) return "stale";
  return reference.count > 0 ? "referenced" : "active";
}

/** A memory is there to last: it is stale when something else says the same or otherwise, not with time. */
function memoryLifecycle(place: Place): Lifecycle {
  if (factValue(place, "supersession") !== null) return "stale";
  return factValue(place, "reference").count > 0 ? "referenced" : "active";
}

/** Where a block belongs. Text moves there only at a rewrite. */
export function zoneOf(place: Place): Zone {
  const pin = pinOf(place);
  if (factValue(place, "archive") !== null) return "cold";
  if (pin !== "none") return pin === "top" ? "primacy" : "recency";
  if (place.block.kind === "system" || place.block.kind === "memory") return "primacy";
  const recent = isInRun(place) || isFocused(place) || factValue(place, "selection");
  return recent ? "recency" : "middle";
}

/** A pin on one block of a pair protects all of it, also those that came later. */
export function isPinned(place: Place): boolean {
  return pinOf(place) !== "none";
}

/** Its own pin, else that of its pair: a call and its result are never apart. */
function pinOf(place: Place): Pin {
  const pins = [place, ...pairOf(place)].map((member) => factValue(member, "pin"));
  return pins.find((pin) => pin !== "none") ?? "none";
}

/** The user's word covers the whole pair, also a result that arrives after it. */
export function isWithheld(place: Place): boolean {
  return pairOf(place).some((member) => factValue(member, "withhold"));
}

export function isFocused(place: Place): boolean {
  const focus: Focus | null = factValue(place, "focus");
  if (focus === null) return false;
  const stream = must(streamOf(place.moment, place.view.stream), "a view has a stream");
  return focus.run === runNow(place.moment, stream).run && turnNow(place.moment, stream) <= focus.until;
}

/** What is wanted and what the ledger shows differ: the change waits for a rewrite. Null where they agree. */
export function pendingOf(place: Place): { readonly shown: Shown; readonly wanted: Shown } | null {
  const shown = shownOf(place.moment, place.view, place.block.id);
  const wanted = wantedOf(place);
  return shown === "absent" || shown === wanted ? null : { shown, wanted };
}

export function wantedOf(place: Place): Shown {
  const hidden = factValue(place, "archive") !== null || isWithheld(place);
  const gone = notesOf(place.moment, place.block.id)?.purged ?? false;
  return hidden || gone ? "placeholder" : factValue(place, "level");
}

function isAnswered({ moment, view, block }: Place): boolean {
  return wasAnsweredSince(moment, view, block.addedSeq);
}

function isInRun(place: Place): boolean {
  const stream = must(streamOf(place.moment, place.view.stream), "a view has a stream");
  return place.block.addedSeq >= runNow(place.moment, stream).seq;
}

function turnOfStream(place: Place): number {
  return turnNow(place.moment, must(streamOf(place.moment, place.view.stream), "a view has a stream"));
}

function isBelowOriginal(shown: Shown): boolean {
  return shown !== "original" && shown !== "absent";
}

const ladder = {
  original: "trimmed",
  trimmed: "minimal",
  summarized: "minimal",
  minimal: "archive",
} as const;

/** One step down the ladder that an expired ttl takes. */
export function lowered(level: Level): Level | "archive" {
  return ladder[level];
}
