import { textBlock } from "../../protocols/index.ts";
import { type Item, inOtherWords } from "./draft.ts";
import { bytesOf, type Place, type UnitFacts } from "./place.ts";
import type { Reworded } from "./rewrite.ts";

/** Content that must not be sent any more, by the key of its unit. */
export type Withheld = ReadonlySet<string>;

type Named = Pick<UnitFacts, "key" | "kind" | "callId">;

const words = "[withheld by the user]";

/**
 * Whether a unit must not be sent. The result of a call is withheld in every form a client gives it: its key
 * would be another one each time.
 */
export function isWithheld(withheld: Withheld, { key, kind, callId }: Named): boolean {
  if (withheld.size === 0 || withheld.has(key)) return withheld.size > 0;
  if (kind !== "tool-result" || callId === null) return false;
  return [...withheld].some((other) => other.startsWith(`user:${callId}:`));
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

export function withheldWords(withheld: Withheld, { facts, bytes }: Shown): Reworded | undefined {
  if (!isWithheld(withheld, facts)) return undefined;
  return { bytes: instead(bytes), showing: { as: "placeholder", tokens: null, borrows: [] } };
}

type Shown = { readonly facts: Named; readonly bytes: Uint8Array };

/** Whether what a place shows is nothing of ours, or has to stand there in any case. */
export function isPlain(place: Place, withheld: Withheld, nonce: string): boolean {
  return isWithheld(withheld, place.facts) || !Buffer.from(bytesOf(place)).includes(nonce);
}

/** An item as it may be sent. Of ours only a result can hold what somebody else has said. */
export function withheldItem(item: Item, withheld: Withheld): Item {
  const isLine = item.origin === "aperture" && item.facts.type !== "tool_result";
  const other = isLine ? undefined : withheldWords(withheld, item);
  return other === undefined ? item : inOtherWords(item, other);
}
