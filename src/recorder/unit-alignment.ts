import { assert, type UnitId } from "../base/index.ts";
import { sharedMessageCount, type WireGroup, type WireRequest, type WireUnit } from "../protocols/index.ts";
import type { LastTurn, StreamIndex } from "./stream-index.ts";

/** A unit of a request with the message or section it lies in. */
export type PlacedUnit = { readonly unit: WireUnit; readonly group: WireGroup };

export type Alignment = {
  /** The leading units that were sent before. */
  readonly path: readonly UnitId[];
  /** The units after them. */
  readonly fresh: readonly PlacedUnit[];
};

/**
 * Finds the longest ledger path with the same keys as the request. Messages shared with the previous request
 * follow its path, so only new units are looked up.
 */
export function alignUnits(index: StreamIndex, request: WireRequest): Alignment {
  const path: UnitId[] = [...sharedPath(index.last, request)];
  const rest = placedUnits(request, path.length);
  let known = 0;
  for (const { unit } of rest) {
    const next = index.child(path.at(-1) ?? null, unit.key);
    if (next === null) break;
    path.push(next);
    known += 1;
  }
  assert(known <= rest.length, "no more units are known than there are");
  return { path, fresh: rest.slice(known) };
}

/**
 * All units of a request from index `first` on, in the order a provider reads them: tools, system, messages.
 * It walks messages from the end, because callers want the new units.
 */
export function placedUnits(request: WireRequest, first: number): readonly PlacedUnit[] {
  const { tools, system, messages, messageKeys } = request;
  let start = messages.length;
  let before = headLength(request) + messageKeys.length;
  while (start > 0 && before > first) {
    start -= 1;
    before -= unitCount(messages, start);
  }
  const includesHead = before > first;
  const groups = includesHead ? [tools, system, ...messages] : messages.slice(start);
  return placeGroups(groups, first - (includesHead ? 0 : before));
}

function placeGroups(groups: readonly WireGroup[], first: number): readonly PlacedUnit[] {
  const placed: PlacedUnit[] = [];
  let left = first;
  for (const group of groups) {
    const { units } = group;
    for (const unit of left > 0 ? units.slice(left) : units) placed.push({ unit, group });
    left -= units.length;
  }
  return placed;
}

function unitCount(messages: readonly WireGroup[], at: number): number {
  return messages[at]?.units.length ?? 0;
}

function headLength({ tools, system }: WireRequest): number {
  return tools.units.length + system.units.length;
}

/** Counts how often each of these keys occurs among the first `count` units. */
export function countsBefore(
  request: WireRequest,
  count: number,
  keys: readonly string[],
): Map<string, number> {
  const counts = new Map(keys.map((key) => [key, 0]));
  if (counts.size === 0) return counts;
  const increment = (key: string): void => {
    const known = counts.get(key);
    if (known !== undefined) counts.set(key, known + 1);
  };
  const { tools, system, messageKeys } = request;
  const head = [...tools.units, ...system.units].map(({ key }) => key);
  for (const key of head.slice(0, count)) increment(key);
  for (const key of messageKeys.slice(0, Math.max(0, count - head.length))) increment(key);
  return counts;
}

function sharedPath(last: LastTurn | null, request: WireRequest): readonly UnitId[] {
  const before = last?.request ?? null;
  if (last === null || before === null) return [];
  return last.path.slice(0, sharedUnits(request, before));
}

/** Number of leading units that the request shares with the previous one. */
export function sharedUnits(request: WireRequest, before: WireRequest | null): number {
  if (before === null) return 0;
  const sameHead = isSameGroup(before.tools, request.tools) && isSameGroup(before.system, request.system);
  return sameHead ? headLength(request) + sharedMessageUnits(request, before) : 0;
}

/** A section that is empty in both counts as shared. */
function isSameGroup({ units: before }: WireGroup, { units: after }: WireGroup): boolean {
  return before === after || (before.length === 0 && after.length === 0);
}

/** Number of units in the shared messages. New messages are few, so those are counted and subtracted. */
function sharedMessageUnits(request: WireRequest, before: WireRequest): number {
  const fresh = request.messages.slice(sharedMessageCount(request, before));
  return request.messageKeys.length - fresh.reduce((sum, { units }) => sum + units.length, 0);
}

/** Number of leading message keys that the request shares with the last turn. */
export function sharedMessageKeys(request: WireRequest, { messageKeys, request: before }: LastTurn): number {
  const known = before === null ? 0 : sharedMessageUnits(request, before);
  return known + sharedKeys(request.messageKeys.slice(known), messageKeys.slice(known));
}

export function sharedKeys(a: readonly string[], b: readonly string[]): number {
  const difference = a.findIndex((key, at) => key !== b[at]);
  return difference === -1 ? a.length : difference;
}
