import { removeFingerprinted, type TextFingerprint } from "../exchange/index.ts";
import { memoryText } from "../notes/index.ts";
import { textBlock } from "../protocols/index.ts";
import { type LedgerNode, nodeBytes, type ShownBytes, type UnitFacts } from "./node.ts";
import { type PlannedUnit, rewordUnit } from "./planned-units.ts";

/** Content that must not be sent: the keys of units, each with a fingerprint to find its text in others. */
export type WithheldContent = ReadonlyMap<string, TextFingerprint | null>;

type UnitName = Pick<UnitFacts, "key" | "kind" | "callId">;

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
  if (isWithheldUnit(withheld, unit)) return withheldPlaceholder(bytes);
  return removeTexts(withheld, unit, bytes) ?? removeMemories(withheld, unit, bytes);
}

/** Removes memories from our lines and from the calls that made them. */
function removeMemories(withheld: WithheldContent, { kind }: UnitName, bytes: Uint8Array): Uint8Array | null {
  if (kind !== "ambient" && kind !== "tool-call") return null;
  const prints = [...withheld].flatMap(([key, print]) =>
    print !== null && key.startsWith("memory-") && print.chars <= bytes.length ? [print] : [],
  );
  if (prints.length === 0) return null;
  let isFound = false;
  const json = JSON.stringify(fieldsOf(bytes), (_, value: unknown) => {
    const cleaned =
      typeof value === "string" ? removeFingerprinted(memoryText(value), prints, withheldText) : null;
    isFound ||= cleaned !== null;
    return cleaned ?? value;
  });
  return isFound ? Buffer.from(json) : null;
}

/** Removes withheld texts that a client has joined to another text of the same speaker. */
function removeTexts(
  withheld: WithheldContent,
  { key, kind }: UnitName,
  bytes: Uint8Array,
): Uint8Array | null {
  if (kind !== "user" && kind !== "assistant") return null;
  const prints = [...withheld].flatMap(([other, print]) =>
    print !== null && print.chars <= bytes.length && speakerOf(other) === speakerOf(key) ? [print] : [],
  );
  if (prints.length === 0) return null;
  const { text, ...block } = fieldsOf(bytes);
  const cleaned = typeof text === "string" ? removeFingerprinted(text, prints, withheldText) : null;
  return cleaned === null ? null : Buffer.from(JSON.stringify({ ...block, text: cleaned }));
}

function speakerOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

/**
 * The bytes sent in place of a withheld unit. A call stays a call and a result a result, because the provider
 * requires both. Its own bytes tell which it is: the stored content may be gone.
 */
function withheldPlaceholder(unit: Uint8Array): Uint8Array {
  const { type, id, name, tool_use_id } = fieldsOf(unit);
  if (type === "tool_use") return Buffer.from(JSON.stringify({ type, id, name, input: {} }));
  if (type === "tool_result")
    return Buffer.from(JSON.stringify({ type, tool_use_id, content: withheldText }));
  return textBlock(withheldText);
}

function fieldsOf(unit: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const text = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength).toString("utf8");
    return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>; // a unit is an object
  } catch {
    return {};
  }
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
export function isFreeOfNotes(node: LedgerNode, withheld: WithheldContent, nonce: string): boolean {
  return isWithheldUnit(withheld, node.facts) || !Buffer.from(nodeBytes(node)).includes(nonce);
}

/** The unit without its withheld content. */
export function withholdUnit(unit: PlannedUnit, withheld: WithheldContent): PlannedUnit {
  const form = formWithout(withheld, unit);
  return form === undefined ? unit : rewordUnit(unit, form);
}
