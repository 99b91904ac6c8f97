import { type ModelTraits, systemMessage } from "../../protocols/index.ts";
import { type Carrier, carrierOf } from "./carrier.ts";
import { type Item, ownItem } from "./draft.ts";
import type { Place, Wrapping } from "./place.ts";

export type OwnAsked = {
  /** What is new of the client's. */
  readonly items: readonly Item[];
  /** The last place before it. */
  readonly last: Place;
  readonly instructions: string;
  /** Puts headers among what is new. */
  readonly heads: (items: readonly Item[]) => readonly Item[];
  /** What changes with each turn, for the way it will go. */
  readonly tail: (carrier: Carrier) => string | null;
  readonly traits: ModelTraits;
  readonly mayClear: boolean;
  /** Whether the instructions are still to be said, because they do not stand in front. */
  readonly needsJoin: boolean;
  /** A turn gets everything, a count what stays, anything else nothing. */
  readonly purpose: "turn" | "count" | "aside";
};

/** The client's items with ours among them, and what is sent once and then forgotten. */
export type WithOwn = {
  readonly items: readonly Item[];
  /** A last text inside the last message. */
  readonly dropped: string | null;
};

export function withOwn(asked: OwnAsked): WithOwn {
  if (asked.purpose === "aside") return { items: asked.items, dropped: null };
  // Before the model was told what our lines mean, there are none.
  const headed = asked.needsJoin ? asked.items : asked.heads(asked.items);
  const spoken = headed.findLastIndex(({ facts, wrapping }) => !isSilent(facts.type, wrapping.role)) + 1;
  const end = headed[spoken - 1]?.wrapping ?? asked.last.wrapping;
  const isOpen = spoken > 0 || !isSilent(asked.last.facts.type, end.role);
  const silent = headed.slice(spoken);
  const own = ownEnd(asked, { headed: headed.slice(0, spoken), end, isOpen });
  // What is dropped is the last of all, and so it cannot stand before a message without content.
  return { items: [...own.items, ...silent], dropped: silent.length > 0 ? null : own.dropped };
}

/** A message that has no content, such as a change of effort: nothing can be added to it. */
export function isSilent(type: string, role: string): boolean {
  return type === "none" && role === "system";
}

type End = {
  readonly headed: readonly Item[];
  /** Of the last message that says something. */
  readonly end: Wrapping;
  /** Whether something can be added inside that message. */
  readonly isOpen: boolean;
};

function ownEnd(asked: OwnAsked, { headed, end, isOpen }: End): WithOwn {
  if (asked.needsJoin) return joined(asked, { headed, end, isOpen });
  const none: WithOwn = { items: headed, dropped: null };
  if (asked.purpose === "count") return none;
  const carrier = carrierOf({ traits: asked.traits, lastRole: end.role, mayClear: asked.mayClear });
  if (carrier === "none" || (!isOpen && carrier !== "clearing")) return none;
  const text = asked.tail(carrier);
  if (text === null) return none;
  if (carrier === "dropped") return { ...none, dropped: text };
  const item = carrier === "clearing" ? ownMessage(text, true) : ownItem(text, end, false);
  return { ...none, items: [...headed, item] };
}

/** Instructions that come late: behind the last thing said, as a system message where the model takes one. */
function joined({ instructions, traits }: OwnAsked, { headed, end, isOpen }: End): WithOwn {
  const isMessage = traits.hasMidSystem && end.role === "user";
  const canJoin = isMessage || (isOpen && (end.role === "user" || end.role === "system"));
  if (!canJoin) return { items: headed, dropped: null };
  const item = isMessage ? ownMessage(instructions, false) : ownItem(instructions, end, false);
  // What stood before them has no numbers that the model could have been told of.
  return { items: [...headed, { ...item, isHeader: true }], dropped: null };
}

function ownMessage(text: string, clears: boolean): Item {
  return ownItem(text, { role: "system", ...systemMessage(clears) }, true);
}
