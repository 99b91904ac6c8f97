import { hashContent, type Json, must } from "../../base/index.ts";
import { isCommandTool } from "../../commands/index.ts";
import { type AnswerUnit, spokenIn, unitOfResult } from "../../protocols/index.ts";
import type { CommandResult } from "../desk-port.ts";
import { asIs, type Item, inOtherWords } from "./draft.ts";
import { bytesOf, isOwn, type Place, type Wrapping, wholly } from "./place.ts";

/** A call of one of our tools, as the model has made it. */
export type OwnCall = {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
};

/** A call by its id, and by the place behind which the answer stands that makes it. */
export type CallPlace = { readonly id: string; readonly before: string };

/** What a call came to; null where nobody knows. */
export type ResultOf = (call: CallPlace) => CommandResult | null;

export function callKey({ id, before }: CallPlace): string {
  return `${before} ${id}`;
}

/** The place behind which the message of a place stands. */
export function placeBefore(place: Place): string {
  let start = place;
  while (!start.opens && start.parent !== null) start = start.parent;
  return start.parent?.sent?.id ?? "";
}

/** The call of ours that some bytes make; null where they make none. */
export function ownCallIn(type: string, bytes: Uint8Array): OwnCall | null {
  const spoken = type === "tool_use" ? spokenIn(bytes) : null;
  if (spoken?.type !== "call" || !isCommandTool(spoken.name)) return null;
  const { id, name, input } = spoken;
  return { id, name, input };
}

export function ownCallsIn(units: readonly AnswerUnit[]): readonly OwnCall[] {
  return units.flatMap(({ unit, bytes }) => ownCallIn(unit.type, bytes) ?? []);
}

/**
 * The last call of ours behind what the client knows of an answer: whatever follows, follows that. Between
 * calls lie their results, where the answer went on.
 */
export function hiddenEnd(place: Place): Place {
  if (place.wrapping.role !== "assistant") return place;
  return lastHidden(place) ?? place;
}

function lastHidden({ children }: Place): Place | null {
  for (const child of [...children].reverse()) {
    if (!isOwn(child)) continue;
    const last = lastHidden(child) ?? (child.facts.isHidden === true ? child : null);
    if (last !== null) return last;
  }
  return null;
}

/**
 * The calls of ours that what follows a place has to answer: those in the message that ends there, or, in the
 * middle of the message behind it, those that nothing in it has answered yet.
 */
export function openCalls(end: Place): readonly Place[] {
  const answered = new Set<string | null>();
  let at: Place | null = end;
  for (let isOver = false; at !== null && at.wrapping.role === "user" && !isOver; at = at.parent) {
    answered.add(at.facts.callId);
    isOver = at.opens;
  }
  const calls: Place[] = [];
  if (at?.wrapping.role !== "assistant") return calls;
  for (; at !== null; at = at.opens ? null : at.parent) {
    const { isHidden, callId } = at.facts;
    if (isHidden && callId !== null && !answered.has(callId)) calls.push(at);
  }
  return calls.reverse();
}

/** Behind what we have answered in the middle of a message: the client's words go on there. */
export function answeredEnd(place: Place): Place {
  const own = place.children.findLast(
    (child) => isOwn(child) && !child.opens && child.facts.type === "tool_result",
  );
  return place.wrapping.role !== "user" || own === undefined ? place : answeredEnd(own);
}

/** A message of ours on the side of the user. */
export const userMessage: Wrapping = { role: "user", head: '{"role":"user","content":[', tail: "]}" };

/** A message of ours that answers these calls. */
export function answeredCalls(calls: readonly Place[], resultOf: ResultOf): readonly Item[] {
  return calls.map((call, at) => resultItem(call, resultOf, { wrapping: userMessage, opens: at === 0 }));
}

/**
 * What is new, with results for calls of ours: behind those of the client, since nothing may stand before
 * them. Where a call has got through to the client, what the client says of it is said by us.
 */
export function withResults(
  items: readonly Item[],
  calls: readonly Place[],
  resultOf: ResultOf,
): readonly Item[] {
  if (calls.length === 0) return items;
  const leaked = new Map(calls.map((call) => [call.facts.callId, call]));
  const told = items.map((item) => {
    const call = item.facts.type === "tool_result" ? leaked.get(item.facts.callId) : undefined;
    leaked.delete(item.facts.callId);
    return call === undefined ? item : inOurWords(item, call, resultOf);
  });
  const first = told.findIndex(({ opens, wrapping }, at) => (opens || at === 0) && wrapping.role === "user");
  const { wrapping, opens } = told[first] ?? { wrapping: userMessage, opens: true };
  if (first === -1 || leaked.size === 0) return told;
  const end = resultsEnd(told, first);
  const own = [...leaked.values()].map((call, at) =>
    resultItem(call, resultOf, { wrapping, opens: opens && end === first && at === 0 }),
  );
  const [next, ...rest] = told.slice(end);
  const follows = next === undefined ? [] : [end === first ? { ...next, opens: false } : next];
  return [...told.slice(0, end), ...own, ...follows, ...rest];
}

/** Behind the results with which a message begins. */
export function resultsEnd(items: readonly Item[], first: number): number {
  const rest = items.slice(first);
  const count = rest.findIndex(({ facts, opens }, at) => facts.type !== "tool_result" || (opens && at > 0));
  return count === -1 ? items.length : first + count;
}

export const unanswered =
  "Aperture has not carried this out in time. If anything changes after all, the manifest will say so.";

function writtenResult(call: Place, resultOf: ResultOf): AnswerUnit {
  const { id } = must(ownCallIn("tool_use", bytesOf(call)), "it was read as a call before");
  const { text, isError } = resultOf({ id, before: placeBefore(call) }) ?? {
    text: unanswered,
    isError: true,
  };
  return unitOfResult({ callId: id, text, isError });
}

type Standing = Pick<Item, "wrapping" | "opens">;

function resultItem(call: Place, resultOf: ResultOf, standing: Standing): Item {
  const { unit, bytes } = writtenResult(call, resultOf);
  const hash = hashContent(bytes);
  return { ...asIs, facts: unit, origin: "aperture", ...standing, extra: null, bytes, hash, at: null };
}

function inOurWords(item: Item, call: Place, resultOf: ResultOf): Item {
  return inOtherWords(item, { bytes: writtenResult(call, resultOf).bytes, showing: wholly });
}
