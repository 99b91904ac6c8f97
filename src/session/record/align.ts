import { assert, type UnitId } from "../../base/index.ts";
import { sharedMessages, type WireGroup, type WireRequest, type WireUnit } from "../../protocols/index.ts";
import type { LastTurn, StreamIndex } from "./stream-index.ts";

/** A unit of a request, with the message or section it lies in. */
export type PlacedUnit = { readonly unit: WireUnit; readonly group: WireGroup };

export type Alignment = {
  /** The units that were sent before, from the first on. */
  readonly path: readonly UnitId[];
  /** Everything after them. */
  readonly fresh: readonly PlacedUnit[];
};

/**
 * Finds the longest path of the ledger that says what the request says. Messages taken over unchanged from
 * the request before lead along its path, so only what is new is looked up.
 */
export function align(index: StreamIndex, request: WireRequest): Alignment {
  const path: UnitId[] = [...knownPath(index.last, request)];
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
 * All units of a request but the first few, in order: tools, system, messages, as a provider reads them. The
 * messages are gone through from the end, since what is asked for is what is new.
 */
export function placedUnits(request: WireRequest, first: number): readonly PlacedUnit[] {
  const { tools, system, messages, talk } = request;
  let start = messages.length;
  let before = headLength(request) + talk.length;
  while (start > 0 && before > first) {
    start -= 1;
    before -= unitsIn(messages, start);
  }
  const isHeadAsked = before > first;
  const groups = isHeadAsked ? [tools, system, ...messages] : messages.slice(start);
  return placedIn(groups, first - (isHeadAsked ? 0 : before));
}

function placedIn(groups: readonly WireGroup[], first: number): readonly PlacedUnit[] {
  const placed: PlacedUnit[] = [];
  let left = first;
  for (const group of groups) {
    const { units } = group;
    for (const unit of left > 0 ? units.slice(left) : units) placed.push({ unit, group });
    left -= units.length;
  }
  return placed;
}

function unitsIn(messages: readonly WireGroup[], at: number): number {
  return messages[at]?.units.length ?? 0;
}

function headLength({ tools, system }: WireRequest): number {
  return tools.units.length + system.units.length;
}

/** How often each of these keys stands among the first so many units. */
export function countsBefore(
  request: WireRequest,
  count: number,
  keys: readonly string[],
): Map<string, number> {
  const counts = new Map(keys.map((key) => [key, 0]));
  if (counts.size === 0) return counts;
  const note = (key: string): void => {
    const known = counts.get(key);
    if (known !== undefined) counts.set(key, known + 1);
  };
  const { tools, system, talk } = request;
  const head = [...tools.units, ...system.units].map(({ key }) => key);
  for (const key of head.slice(0, count)) note(key);
  for (const key of talk.slice(0, Math.max(0, count - head.length))) note(key);
  return counts;
}

function knownPath(last: LastTurn | null, request: WireRequest): readonly UnitId[] {
  const before = last?.request ?? null;
  if (last === null || before === null) return [];
  return last.path.slice(0, sharedUnits(request, before));
}

/** How many leading units were taken over unchanged from the request before. */
export function sharedUnits(request: WireRequest, before: WireRequest | null): number {
  if (before === null) return 0;
  const sameHead = isSame(before.tools, request.tools) && isSame(before.system, request.system);
  return sameHead ? headLength(request) + sharedSaid(request, before) : 0;
}

/** A section that is in neither was taken over, too. */
function isSame({ units: before }: WireGroup, { units: after }: WireGroup): boolean {
  return before === after || (before.length === 0 && after.length === 0);
}

/** How many units lie in the messages that were taken over. What is new is little: it is counted instead. */
function sharedSaid(request: WireRequest, before: WireRequest): number {
  const fresh = request.messages.slice(sharedMessages(request, before));
  return request.talk.length - fresh.reduce((sum, { units }) => sum + units.length, 0);
}

/** How many leading keys of what is said now were said last time too. */
export function sharedTalk(request: WireRequest, { talk, request: before }: LastTurn): number {
  const known = before === null ? 0 : sharedSaid(request, before);
  return known + sharedKeys(request.talk.slice(known), talk.slice(known));
}

/** How many leading keys two lists share. */
export function sharedKeys(a: readonly string[], b: readonly string[]): number {
  const parted = a.findIndex((key, at) => key !== b[at]);
  return parted === -1 ? a.length : parted;
}
