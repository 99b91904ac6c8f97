import { type ModelTraits, systemMessage } from "../../protocols/index.ts";
import { type Item, ownItem } from "./draft.ts";
import { type Carrier, carrierOf, type OwnTexts } from "./inserts.ts";
import type { Place, Wrapping } from "./place.ts";

export type OwnAsked = {
  /** What is new of the client's. */
  readonly items: readonly Item[];
  /** The last place before it. */
  readonly last: Place;
  readonly texts: OwnTexts;
  readonly turn: number;
  readonly traits: ModelTraits;
  readonly mayClear: boolean;
  /** Whether the instructions are still to be said, because they do not stand in front. */
  readonly needsJoin: boolean;
  /** A turn gets everything, a count what stays, anything else nothing. */
  readonly purpose: "turn" | "count" | "aside";
  /** Whether what was said before has to be said anew. */
  readonly isEpochStart: boolean;
};

/** The client's items with ours among them, and what is sent once and then forgotten. */
export type WithOwn = {
  readonly items: readonly Item[];
  /** A last text inside the last message. */
  readonly dropped: string | null;
};

export function withOwn(asked: OwnAsked): WithOwn {
  if (asked.purpose === "aside") return { items: asked.items, dropped: null };
  const lined = withLine(asked);
  const spoken = lined.findLastIndex(({ facts, wrapping }) => !isSilent(facts.type, wrapping.role)) + 1;
  const end = lined[spoken - 1]?.wrapping ?? asked.last.wrapping;
  const isOpen = spoken > 0 || !isSilent(asked.last.facts.type, end.role);
  const silent = lined.slice(spoken);
  const own = ownEnd(asked, { lined: lined.slice(0, spoken), end, isOpen });
  // What is dropped is the last of all, and so it cannot stand before a message without content.
  return { items: [...own.items, ...silent], dropped: silent.length > 0 ? null : own.dropped };
}

/** A message that has no content, such as a change of effort: nothing can be added to it. */
export function isSilent(type: string, role: string): boolean {
  return type === "none" && role === "system";
}

type End = {
  readonly lined: readonly Item[];
  /** Of the last message that says something. */
  readonly end: Wrapping;
  /** Whether something can be added inside that message. */
  readonly isOpen: boolean;
};

function ownEnd(asked: OwnAsked, { lined, end, isOpen }: End): WithOwn {
  if (asked.needsJoin) return joined(asked, { lined, end, isOpen });
  if (asked.purpose === "count") return { items: lined, dropped: null };
  const text = asked.texts.tail(asked.turn);
  const carrier = carrierOf({ traits: asked.traits, lastRole: end.role, mayClear: asked.mayClear });
  if (!isOpen && carrier !== "clearing") return { items: lined, dropped: null };
  return carried(carrier, { lined, end, text, isEpochStart: asked.isEpochStart });
}

type Tail = {
  readonly lined: readonly Item[];
  readonly end: Wrapping;
  readonly text: string;
  readonly isEpochStart: boolean;
};

function carried(carrier: Carrier, { lined, end, text, isEpochStart }: Tail): WithOwn {
  const none: WithOwn = { items: lined, dropped: null };
  switch (carrier) {
    case "clearing":
      return { items: [...lined, ownMessage(text, true)], dropped: null };
    case "kept":
      return isEpochStart ? { ...none, items: [...lined, ownItem(text, end, false)] } : none;
    case "dropped":
      return { ...none, dropped: text };
    case "none":
      return none;
  }
}

/** Instructions that come late: as a system message behind the last thing said. */
function joined({ texts, traits }: OwnAsked, { lined, end, isOpen }: End): WithOwn {
  const canJoin = traits.hasMidSystem && (end.role === "user" || (end.role === "system" && isOpen));
  if (!canJoin) return { items: lined, dropped: null };
  const text = texts.instructions;
  const item = end.role === "user" ? ownMessage(text, false) : ownItem(text, end, false);
  return { items: [...lined, item], dropped: null };
}

function ownMessage(text: string, clears: boolean): Item {
  return ownItem(text, { role: "system", ...systemMessage(clears) }, true);
}

/**
 * The line of a turn stands in front of what the user says. Nothing may stand before tool results, so there
 * it stands behind them.
 */
function withLine({ items, texts, turn }: OwnAsked): readonly Item[] {
  const last = items.findLastIndex(({ wrapping }) => wrapping.role === "user");
  if (last === -1) return items;
  let first = last;
  while (first > 0 && items[first]?.opens === false) first -= 1;
  const spoken = items.findIndex(
    ({ facts }, at) => at >= first && at <= last && facts.type !== "tool_result",
  );
  const text = texts.line(turn);
  const before = items[spoken];
  if (before === undefined) {
    const wrapping = items[last]?.wrapping ?? { role: "user", head: "", tail: "" };
    return [...items.slice(0, last + 1), ownItem(text, wrapping, false), ...items.slice(last + 1)];
  }
  const own = ownItem(text, before.wrapping, before.opens);
  return [...items.slice(0, spoken), own, { ...before, opens: false }, ...items.slice(spoken + 1)];
}
