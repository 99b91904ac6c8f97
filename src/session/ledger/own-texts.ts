import { type CommandLine, commandLines, textCallName } from "../../commands/index.ts";
import { answersText } from "../../render/index.ts";
import { type Item, ownItem } from "./draft.ts";
import type { Head } from "./head.ts";
import {
  type OwnCall,
  ownCallIn,
  placeBefore,
  type ResultOf,
  resultsEnd,
  unanswered,
  userMessage,
} from "./own-calls.ts";
import { bytesOf, type Place, type UnitFacts } from "./place.ts";
import { textOf } from "./tolerance.ts";

/** What a model was offered: our tools, or command lines with this nonce. Clients may use our names, too. */
export type Offered = { readonly hasTools: boolean; readonly nonce: string | null };

export const nothingOffered: Offered = { hasTools: false, nonce: null };

export function offeredBy(head: Head | null, nonce: string): Offered {
  if (head === null) return nothingOffered;
  return { hasTools: head.ownTools.length > 0, nonce: head.hasTextCommands ? nonce : null };
}

/** What a unit of an answer is to the ledger. */
export function heardFacts(facts: UnitFacts, bytes: Uint8Array, { hasTools, nonce }: Offered): UnitFacts {
  if (hasTools && ownCallIn(facts.type, bytes) !== null) return { ...facts, isHidden: true };
  const text = nonce !== null && facts.type === "text" ? textOf(bytes) : null;
  const lines = nonce === null || text === null ? [] : commandLines(text, nonce);
  if (text === null || lines.length === 0) return facts;
  return isAll(text, lines)
    ? { ...facts, isCommanding: true, isHidden: true }
    : { ...facts, isCommanding: true };
}

/** Whether a text says nothing but these lines. */
function isAll(text: string, lines: readonly CommandLine[]): boolean {
  const ends = [0, ...lines.map(({ end }) => end)];
  const rest = ends.map((from, at) => text.slice(from, lines[at]?.start));
  return rest.join("").trim() === "";
}

/** A command line as a call. */
type LineCall = OwnCall & { readonly asked: string; readonly before: string };

/**
 * The command lines of the message that ends at a place, as calls. What stands before the message is in their
 * ids, so that the same words said again are another call.
 */
export function lineCalls(end: Place, nonce: string): readonly LineCall[] {
  const texts = commandingTexts(end);
  const first = texts[0];
  if (first === undefined) return [];
  const before = placeBefore(first);
  return texts.flatMap((place, at) =>
    commandLines(textOf(bytesOf(place)) ?? "", nonce).map(({ start, text }) => ({
      id: `${textCallName}${before}:${at}:${start}`,
      name: textCallName,
      input: { text },
      asked: text,
      before,
    })),
  );
}

function commandingTexts(end: Place): readonly Place[] {
  const texts: Place[] = [];
  if (end.wrapping.role !== "assistant") return texts;
  for (let at: Place | null = end; at !== null; at = at.opens ? null : at.parent)
    if (at.facts.isCommanding === true) texts.push(at);
  return texts.reverse();
}

/** What those lines came to; null where there are none. */
export function lineAnswers(end: Place, nonce: string, resultOf: ResultOf): string | null {
  const answered = lineCalls(end, nonce).map(({ asked, ...call }) => ({
    asked,
    text: resultOf(call)?.text ?? unanswered,
  }));
  return answered.length === 0 ? null : answersText(nonce, answered);
}

/** A message of ours with the answers. */
export function answersMessage(text: string): Item {
  return answersItem(ownItem(text, userMessage, true));
}

/** What is new, with the answers before the user's words; nothing may stand before results. */
export function withAnswers(items: readonly Item[], text: string | null): readonly Item[] {
  const first = items.findIndex(({ opens, wrapping }) => opens && wrapping.role === "user");
  const { wrapping } = items[first] ?? { wrapping: userMessage };
  if (text === null || first === -1) return items;
  const end = resultsEnd(items, first);
  const isFirst = end === first;
  const [next, ...rest] = items.slice(end);
  const follows = next === undefined ? [] : [isFirst ? { ...next, opens: false } : next];
  return [...items.slice(0, end), answersItem(ownItem(text, wrapping, isFirst)), ...follows, ...rest];
}

/** It may hold what somebody else has written: a block as the result of a call is, and trusted no more. */
function answersItem(item: Item): Item {
  return { ...item, facts: { ...item.facts, kind: "tool-result" } };
}
