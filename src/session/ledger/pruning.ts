import { spokenIn } from "../../protocols/index.ts";
import { hintOf } from "../../render/index.ts";
import { prunedTokens, type WantedBlock } from "../desk-port.ts";
import { bytesOf, type Place } from "./place.ts";

export const pressureReason = "window pressure";

const prunedTypes: readonly string[] = ["tool_result", "image", "document"];

/** A block as its placeholder, for want of room; null where it is one, or cannot be said so. */
export function prunedAs(place: Place): WantedBlock | null {
  return place.showing.as === "placeholder" ? null : asPlaceholder(place);
}

/** Whatever is shown of it now. */
export function asPlaceholder(place: Place): WantedBlock | null {
  const { numbered, facts } = place;
  if (numbered === null) return null;
  const { block } = numbered;
  const pruned = { block, as: "placeholder", tokens: prunedTokens, reason: pressureReason } as const;
  if (facts.type === "tool_use") {
    return { ...pruned, text: null, input: {} };
  }
  // What the provider's own tools have found cannot be said in other words.
  if (!prunedTypes.includes(facts.type)) return null;
  const spoken = spokenIn(place.original ?? bytesOf(place));
  const said = spoken === null || spoken.type === "call" ? "" : spoken.text;
  return { ...pruned, text: hintOf(said), input: null };
}
