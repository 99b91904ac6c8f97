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

/** Tools, system, messages: the order in which a provider reads them. */
function groupsOf(request: WireRequest): readonly WireGroup[] {
  return [request.tools, request.system, ...request.messages];
}

/** All units of a request but the first few, in order. */
export function placedUnits(request: WireRequest, first: number): readonly PlacedUnit[] {
  const placed: PlacedUnit[] = [];
  let before = 0;
  for (const group of groupsOf(request)) {
    const { units } = group;
    if (before + units.length > first) {
      for (const unit of units.slice(Math.max(0, first - before))) placed.push({ unit, group });
    }
    before += units.length;
  }
  return placed;
}

/** How often each key of the new units stands among those before them. */
export function countsBefore(
  request: WireRequest,
  count: number,
  fresh: readonly PlacedUnit[],
): Map<string, number> {
  const counts = new Map(fresh.map(({ unit }) => [unit.key, 0]));
  let at = 0;
  for (const { units } of groupsOf(request)) {
    for (const { key } of units) {
      if (at === count) return counts;
      at += 1;
      const known = counts.get(key);
      if (known !== undefined) counts.set(key, known + 1);
    }
  }
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
  const sameHead = before.tools.units === request.tools.units && before.system.units === request.system.units;
  if (!sameHead) return 0;
  const head = request.tools.units.length + request.system.units.length;
  const shared = sharedMessages(request, before);
  return request.messages.reduce((sum, { units }, at) => (at < shared ? sum + units.length : sum), head);
}

/** How many leading keys two lists share. */
export function sharedKeys(a: readonly string[], b: readonly string[]): number {
  const parted = a.findIndex((key, at) => key !== b[at]);
  return parted === -1 ? a.length : parted;
}
