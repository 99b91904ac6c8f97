import {
  type AddedBlock,
  isWithheld,
  lastSent,
  type Place,
  type Shown,
  shownOf,
  type Zone,
  zoneOf,
} from "../engine/index.ts";
import { tokensShown } from "./shown-tokens.ts";

/** A block as the manifest counts it. */
export type Counted = {
  readonly place: Place;
  readonly zone: Zone;
  readonly shown: Shown;
  readonly tokens: number;
  readonly exact: boolean;
};

/** Null: it is neither in the window nor cold, but left behind. */
export function countedAt(place: Place): Counted | null {
  const { moment, view, block } = place;
  const { id } = block;
  const shown = shownOf(moment, view, id);
  const zone = zoneOf(place);
  const isCold = zone === "cold" && (shown === "placeholder" || shown === "absent");
  if (isCold) {
    const { count, exact } = tokensShown(moment, id, "original");
    return { place, zone, shown, tokens: count, exact };
  }
  if (shown === "absent" && !isNew(place)) return null;
  const { count, exact } = tokensShown(moment, id, shown === "absent" ? "original" : shown);
  // Archived and still shown: it takes its room until the next rewrite, where it stands.
  return { place, zone: zone === "cold" ? "middle" : zone, shown, tokens: count, exact };
}

/** Not sent yet, and about to be. */
export function isNew(place: Place): boolean {
  const sentSeq = lastSent(place.moment, place.view)?.seq ?? 0;
  return place.block.addedSeq > sentSeq && place.block.stream === place.view.stream && !isWithheld(place);
}

export function speakerOf({ kind, taint }: AddedBlock): "user" | "assistant" | "tool" {
  if (kind === "assistant" || kind === "reasoning") return "assistant";
  if (kind === "tool-call" || kind === "tool-result") return "tool";
  if (kind === "memory") return taint === "user" ? "user" : "assistant";
  return kind === "media" && taint === "untrusted" ? "tool" : "user";
}

const listMax = 12;

/** As many as a list of them may have. */
export function largest<T extends { readonly tokens: number }>(all: readonly T[]): readonly T[] {
  return [...all].sort((a, b) => b.tokens - a.tokens).slice(0, listMax);
}
