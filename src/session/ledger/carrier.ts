import type { ModelTraits } from "../../protocols/index.ts";

/**
 * How the tail reaches the model. Clearing: a system message that is shown for one turn and stays in the
 * transcript. Dropped: a last text that is left out of the next request. Kept: a text that stays, so it is
 * sent only when it says something new.
 */
export type Carrier = "clearing" | "dropped" | "kept" | "none";

export type CarrierQuestion = {
  readonly traits: ModelTraits;
  /** Who spoke last: user, assistant or system. */
  readonly lastRole: string;
  /** Whether the header that clearing messages need is there or may be added. */
  readonly mayClear: boolean;
};

export function carrierOf({ traits, lastRole, mayClear }: CarrierQuestion): Carrier {
  if (lastRole === "assistant" || lastRole === "") return "none";
  if (!traits.isBound) return "dropped";
  return traits.hasMidSystem && mayClear && lastRole === "user" ? "clearing" : "kept";
}
