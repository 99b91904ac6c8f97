import { textBlock } from "../../protocols/index.ts";
import { memoryWords } from "../../render/index.ts";
import { type TextPrint, withoutPrinted } from "../text-print.ts";
import { type Item, inOtherWords } from "./draft.ts";
import { bytesOf, type Place, type UnitFacts } from "./place.ts";
import type { Reworded } from "./rewrite.ts";

/** Content that must not be sent any more, by the key of its unit, with what finds its text in others. */
export type Withheld = ReadonlyMap<string, TextPrint | null>;

type Named = Pick<UnitFacts, "key" | "kind" | "callId">;

const words = "[withheld by the user]";

/**
 * Whether a unit must not be sent. The result of a call is withheld in every form a client gives it: its key
 * would be another one each time.
 */
export function isWithheld(withheld: Withheld, { key, kind, callId }: Named): boolean {
  if (withheld.size === 0 || withheld.has(key)) return withheld.size > 0;
  if (kind !== "tool-result" || callId === null) return false;
  return [...withheld.keys()].some((other) => other.startsWith(`user:${callId}:`));
}

/** What is sent of a unit in place of its own bytes; null: nothing in it is withheld. */
export function withoutWithheld(withheld: Withheld, unit: Named, bytes: Uint8Array): Uint8Array | null {
  if (withheld.size === 0) return null;
  if (isWithheld(withheld, unit)) return instead(bytes);
  return withoutTexts(withheld, unit, bytes) ?? withoutMemories(withheld, unit, bytes);
}

/** A memory is said in lines of ours, and in the call that has noted it. */
function withoutMemories(withheld: Withheld, { kind }: Named, bytes: Uint8Array): Uint8Array | null {
  if (kind !== "ambient" && kind !== "tool-call") return null;
  const prints = [...withheld].flatMap(([key, print]) =>
    print !== null && key.startsWith("memory-") && print.chars <= bytes.length ? [print] : [],
  );
  if (prints.length === 0) return null;
  let isFound = false;
  const said = JSON.stringify(fieldsIn(bytes), (_, value: unknown) => {
    const other = typeof value === "string" ? withoutPrinted(memoryWords(value), prints, words) : null;
    isFound ||= other !== null;
    return other ?? value;
  });
  return isFound ? Buffer.from(said) : null;
}

/** A client may have joined a text that is withheld to another one of the same speaker. */
function withoutTexts(withheld: Withheld, { key, kind }: Named, bytes: Uint8Array): Uint8Array | null {
  if (kind !== "user" && kind !== "assistant") return null;
  const prints = [...withheld].flatMap(([other, print]) =>
    print !== null && print.chars <= bytes.length && speakerOf(other) === speakerOf(key) ? [print] : [],
  );
  if (prints.length === 0) return null;
  const { text, ...block } = fieldsIn(bytes);
  const said = typeof text === "string" ? withoutPrinted(text, prints, words) : null;
  return said === null ? null : Buffer.from(JSON.stringify({ ...block, text: said }));
}

function speakerOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

/**
 * What stands in the place of a unit. A call stays a call and a result a result, since a provider wants each
 * of them: which they are, the unit says itself, for what is stored of it may be gone.
 */
export function instead(unit: Uint8Array): Uint8Array {
  const { type, id, name, tool_use_id } = fieldsIn(unit);
  if (type === "tool_use") return Buffer.from(JSON.stringify({ type, id, name, input: {} }));
  if (type === "tool_result") return Buffer.from(JSON.stringify({ type, tool_use_id, content: words }));
  return textBlock(words);
}

function fieldsIn(unit: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const text = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength).toString("utf8");
    return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>; // a unit is an object
  } catch {
    return {};
  }
}

/** Places whose words say nothing of what is withheld. A place says the same for ever: none is read twice. */
const cleanPlaces = new WeakMap<Withheld, WeakSet<Place>>();

/** What a place that was sent has to say instead; undefined: it may stay. */
export function placeWords(withheld: Withheld, place: Place): Reworded | undefined {
  if (withheld.size === 0) return undefined;
  const clean = cleanPlaces.get(withheld) ?? new WeakSet();
  cleanPlaces.set(withheld, clean);
  if (clean.has(place) && !isWithheld(withheld, place.facts)) return undefined;
  const words = withheldWords(withheld, { facts: place.facts, bytes: bytesOf(place) });
  if (words === undefined) clean.add(place);
  return words;
}

/** Whether both withhold the same and find it in the same way. */
export function isSameWithheld(one: Withheld, other: Withheld): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([key, print]) => other.has(key) && other.get(key)?.hash === print?.hash);
}

function withheldWords(withheld: Withheld, { facts, bytes }: Shown): Reworded | undefined {
  const other = withoutWithheld(withheld, facts, bytes);
  return other === null
    ? undefined
    : { bytes: other, showing: { as: "placeholder", tokens: null, borrows: [] } };
}

type Shown = { readonly facts: Named; readonly bytes: Uint8Array };

/** Whether what a place shows is nothing of ours, or has to stand there in any case. */
export function isPlain(place: Place, withheld: Withheld, nonce: string): boolean {
  return isWithheld(withheld, place.facts) || !Buffer.from(bytesOf(place)).includes(nonce);
}

/** An item as it may be sent. */
export function withheldItem(item: Item, withheld: Withheld): Item {
  const other = withheldWords(withheld, item);
  return other === undefined ? item : inOtherWords(item, other);
}
