import { hashContent, sha256Hex } from "../base/index.ts";
import type { UnitWrapper, WireGroup, WireRequest, WireUnit } from "../protocols/index.ts";

/** A unit of the client's messages, with the message it belongs to. */
export type ClientUnit = {
  readonly unit: WireUnit;
  readonly group: WireGroup;
  /** Whether it is the first unit of its message. */
  readonly isFirst: boolean;
};

/** The text around a message of the client. */
export function wrapperOf({ role, head, tail, isSelfClearing }: WireGroup): UnitWrapper {
  return isSelfClearing === true ? { role, head, tail, isSelfClearing } : { role, head, tail };
}

/** The number of units of a message. A message without content, such as a change of effort, counts as one. */
export function unitCount({ units }: WireGroup): number {
  return Math.max(1, units.length);
}

/** The units of all messages from the given one on. */
export function clientUnits(request: WireRequest, from: number): readonly ClientUnit[] {
  return request.messages.slice(from).flatMap((group) => {
    const units = group.units.length > 0 ? group.units : [emptyUnit(request, group)];
    return units.map((unit, at) => ({ unit, group, isFirst: at === 0 }));
  });
}

/** The number of units of all messages from the given one on. */
export function unitCountFrom({ messages }: WireRequest, from: number): number {
  let units = 0;
  for (let at = from; at < messages.length; at += 1) {
    const group = messages[at];
    if (group !== undefined) units += unitCount(group);
  }
  return units;
}

/** Stands for a message without content: a unit without bytes. */
function emptyUnit({ protocol }: WireRequest, { role, extra }: WireGroup): WireUnit {
  const hash = hashContent(new Uint8Array());
  const facts = { protocol, section: "messages", role, kind: "ambient", part: "empty" } as const;
  const none = {
    wireType: "",
    callId: null,
    length: 0,
    slices: [],
    around: null,
    mark: null,
    isDeferred: false,
  };
  return { ...facts, ...none, key: `${role}:none:${sha256Hex(extra).slice(0, 32)}`, hash };
}

/** Whether the client sent this unit, and the ledger did not make it up for an empty message. */
export function isClientUnit({ part, length }: WireUnit): boolean {
  return part !== "empty" || length > 0;
}
