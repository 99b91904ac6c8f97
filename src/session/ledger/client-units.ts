import { hashContent, sha256Hex } from "../../base/index.ts";
import type { WireGroup, WireRequest, WireUnit } from "../../protocols/index.ts";
import type { ClientUnit } from "./follow.ts";

/** How many units a message counts for: one without content, such as a change of effort, for one. */
export function unitCount({ units }: WireGroup): number {
  return Math.max(1, units.length);
}

/** The units of the messages from one message on. */
export function clientUnits({ messages }: WireRequest, from: number): readonly ClientUnit[] {
  return messages.slice(from).flatMap((group) => {
    const units = group.units.length > 0 ? group.units : [emptyUnit(group)];
    return units.map((unit, at) => ({ unit, group, begins: at === 0 }));
  });
}

/** How many units the messages from one on count for. */
export function unitsFrom({ messages }: WireRequest, from: number): number {
  let units = 0;
  for (let at = from; at < messages.length; at += 1) {
    const group = messages[at];
    if (group !== undefined) units += unitCount(group);
  }
  return units;
}

/** What a message without content is to the ledger: a unit without bytes. */
function emptyUnit({ role, extra }: WireGroup): WireUnit {
  const hash = hashContent(new Uint8Array());
  const facts = { section: "messages", role, kind: "ambient", type: "none", callId: null } as const;
  const none = { length: 0, places: [], bare: false, mark: null, isDeferred: false };
  return { ...facts, ...none, key: `${role}:none:${sha256Hex(extra).slice(0, 32)}`, hash };
}

/** Whether a unit is one of the client's own, and not made up for an empty message. */
export function isReal({ type, length }: WireUnit): boolean {
  return type !== "none" || length > 0;
}
