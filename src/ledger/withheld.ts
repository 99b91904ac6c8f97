import { removeFingerprinted, type TextFingerprint } from "../exchange/index.ts";
import { memoryText } from "../notes/index.ts";
import { type Protocol, protocolOf } from "../protocols/index.ts";
import { type LedgerNode, nodeBytes, type ShownBytes, type UnitFacts } from "./node.ts";
import { type PlannedUnit, rewordUnit } from "./planned-units.ts";

/** Content that must not be sent: the keys of units, each with a fingerprint to find its text in others. */
export type WithheldContent = ReadonlyMap<string, TextFingerprint | null>;

type UnitName = Pick<UnitFacts, "protocol" | "key" | "kind" | "callId">;

const withheldText = "[withheld by the user]";

/**
 * Whether a unit must not be sent. The result of a call is withheld in every form a client gives it, although
 * each form has another key.
 */
function isWithheldUnit(withheld: WithheldContent, { key, kind, callId }: UnitName): boolean {
  if (withheld.size === 0 || withheld.has(key)) return withheld.size > 0;
  if (kind !== "tool-result" || callId === null) return false;
  return [...withheld.keys()].some((other) => other.startsWith(`user:${callId}:`));
}

/** The bytes of a unit without withheld content. Null if it contains none. */
export function removeWithheld(
  withheld: WithheldContent,
  unit: UnitName,
  bytes: Uint8Array,
): Uint8Array | null {
  if (withheld.size === 0) return null;
  if (isWithheldUnit(withheld, unit)) return withheldPlaceholder(protocolOf(unit), bytes);
  return removeTexts(withheld, unit, bytes) ?? removeMemories(withheld, unit, bytes);
}

/** Removes memories from our lines and from the calls that made them. */
function removeMemories(withheld: WithheldContent, unit: UnitName, bytes: Uint8Array): Uint8Array | null {
  const { kind } = unit;
  if (kind !== "ambient" && kind !== "tool-call") return null;
  const prints = [...withheld].flatMap(([key, print]) =>
    print !== null && key.startsWith("memory-") && print.chars <= bytes.length ? [print] : [],
  );
  if (prints.length === 0) return null;
  return protocolOf(unit).write.replaceStrings(bytes, (text) =>
    removeFingerprinted(memoryText(text), prints, withheldText),
  );
}

/** Removes withheld texts that a client has joined to another text of the same speaker. */
function removeTexts(withheld: WithheldContent, unit: UnitName, bytes: Uint8Array): Uint8Array | null {
  const { key, kind } = unit;
  if (kind !== "user" && kind !== "assistant") return null;
  const prints = [...withheld].flatMap(([other, print]) =>
    print !== null && print.chars <= bytes.length && speakerOf(other) === speakerOf(key) ? [print] : [],
  );
  if (prints.length === 0) return null;
  const { read, write } = protocolOf(unit);
  const text = read.text(bytes);
  const cleaned = text === null ? null : removeFingerprinted(text, prints, withheldText);
  return cleaned === null ? null : write.replace(bytes, { text: cleaned, keepsMedia: true });
}

function speakerOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

/**
 * The bytes sent in place of a withheld unit. A call stays a call and a result a result, because the provider
 * requires both. Its own bytes tell which it is: the stored content may be gone.
 */
function withheldPlaceholder({ write }: Protocol, unit: Uint8Array): Uint8Array {
  return write.emptied(unit, withheldText);
}

/** Nodes without withheld content. The bytes of a node never change, so each is read once. */
const cleanNodes = new WeakMap<WithheldContent, WeakSet<LedgerNode>>();

/** The form of a sent node without its withheld content. Undefined if it contains none. */
export function withheldFormOf(withheld: WithheldContent, node: LedgerNode): ShownBytes | undefined {
  if (withheld.size === 0) return undefined;
  const clean = cleanNodes.get(withheld) ?? new WeakSet();
  cleanNodes.set(withheld, clean);
  if (clean.has(node) && !isWithheldUnit(withheld, node.facts)) return undefined;
  const form = formWithout(withheld, { facts: node.facts, bytes: nodeBytes(node) });
  if (form === undefined) clean.add(node);
  return form;
}

/** Whether both withhold the same content by the same fingerprints. */
export function isSameWithheld(one: WithheldContent, other: WithheldContent): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([key, print]) => other.has(key) && other.get(key)?.hash === print?.hash);
}

function formWithout(
  withheld: WithheldContent,
  { facts, bytes }: { readonly facts: UnitName; readonly bytes: Uint8Array },
): ShownBytes | undefined {
  const cleaned = removeWithheld(withheld, facts, bytes);
  return cleaned === null
    ? undefined
    : { bytes: cleaned, shown: { as: "placeholder", tokens: null, borrows: [] } };
}

/** Whether a node may stay in a plain request: it shows none of our notes, or must be withheld there too. */
export function isFreeOfNotes(
  node: LedgerNode,
  { withheld, nonce }: { readonly withheld: WithheldContent; readonly nonce: string },
): boolean {
  return isWithheldUnit(withheld, node.facts) || !Buffer.from(nodeBytes(node)).includes(nonce);
}

/** The unit without its withheld content. */
export function withholdUnit(unit: PlannedUnit, withheld: WithheldContent): PlannedUnit {
  const form = formWithout(withheld, unit);
  return form === undefined ? unit : rewordUnit(unit, form);
}
