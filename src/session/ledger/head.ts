import { type ContentHash, hashContent } from "../../base/index.ts";
import {
  emitList,
  textBlock,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import type { Numbered, SentUnit } from "../desk-port.ts";
import { placeId } from "../place-id.ts";
import type { TokenGauge } from "../unit-tokens.ts";
import type { NumberDraft } from "./numbers.ts";
import { type Place, rootPlace } from "./place.ts";
import { isSameUnit } from "./tolerance.ts";

/** A tool or a system text with the bytes it was first sent with. */
export type HeadUnit = {
  readonly unit: WireUnit;
  readonly bytes: Uint8Array;
  readonly numbered: Numbered | null;
};

/**
 * Everything that stands before the messages: tools, then system texts, then our instructions. Another tool
 * or another system text is another head, with messages of its own.
 */
export type Head = {
  readonly tools: readonly HeadUnit[];
  readonly system: readonly HeadUnit[];
  /** Null where the stream was joined later, or is sent without anything of ours. */
  readonly instructions: Uint8Array | null;
  readonly root: Place;
  /** Tools the model does not see yet, in the order in which they came. They belong to no path. */
  readonly deferred: Map<string, HeadUnit>;
  readonly units: readonly SentUnit[];
  /** Whether the log was told of its units. */
  isTold: boolean;
  /** How the system texts were spelled last, for the units they were spelled from. */
  spelled: { readonly units: readonly WireUnit[]; readonly pieces: readonly Uint8Array[] } | null;
};

export type HeadAsked = {
  readonly request: WireRequest;
  readonly instructions: string | null;
  readonly draft: NumberDraft;
  readonly gauge: TokenGauge;
};

export function openHead({ request, instructions, draft, gauge }: HeadAsked): Head {
  const own = instructions === null ? null : textBlock(instructions);
  const units = [request.tools, request.system].flatMap((group) =>
    numberedUnits(headUnits(request, group), draft, gauge),
  );
  return headFrom(units, own);
}

/** Equal texts are told apart by their order. */
function numberedUnits(
  units: readonly HeadUnit[],
  draft: NumberDraft,
  gauge: TokenGauge,
): readonly HeadUnit[] {
  const counts = new Map<string, number>();
  draft.open();
  return units.map((one) => {
    const { key, kind, isDeferred } = one.unit;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    if (isDeferred) return one;
    const tokens = gauge.count({ bytes: one.bytes, kind });
    return { ...one, numbered: draft.number({ key, kind, tokens }, nth) };
  });
}

/** A head made of units in their order, with its own at the end. */
export function headFrom(units: readonly HeadUnit[], own: Uint8Array | null): Head {
  const fresh: SentUnit[] = [];
  const add = (unit: Omit<SentUnit, "id" | "parent">, hash: ContentHash): void => {
    const parent = fresh.at(-1)?.id ?? null;
    fresh.push({ ...unit, id: placeId(parent, unit.key, hash), parent });
  };
  for (const [at, { unit, bytes, numbered }] of units.entries()) {
    if (!unit.isDeferred) {
      add({ origin: "client", key: unit.key, unit: at, numbered, as: "original", bytes }, unit.hash);
    }
  }
  if (own !== null) {
    const hash = hashContent(own);
    add(
      { origin: "aperture", key: ownKey(hash), unit: null, numbered: null, as: "original", bytes: own },
      hash,
    );
  }
  const tools = units.filter(({ unit }) => unit.section === "tools");
  return {
    tools: tools.filter(({ unit }) => !unit.isDeferred),
    system: units.filter(({ unit }) => unit.section === "system"),
    instructions: own,
    root: rootPlace(fresh.at(-1)?.id ?? ""),
    deferred: new Map(tools.filter(({ unit }) => unit.isDeferred).map((tool) => [tool.unit.key, tool])),
    units: fresh,
    isTold: false,
    spelled: null,
  };
}

/** The key of something of ours. */
export function ownKey(hash: string): string {
  return `own:${hash.slice(0, 32)}`;
}

function headUnits(request: WireRequest, { units, range }: WireGroup): readonly HeadUnit[] {
  return units.map((unit) => ({
    unit,
    bytes: Uint8Array.from(unitBytes(request.bytes, range.start, unit)),
    numbered: null,
  }));
}

/** Whether a request has this head: the same tools in any order, the same system texts in theirs. */
export function hasHead({ tools, system }: Head, request: WireRequest): boolean {
  const named = request.tools.units.filter(({ isDeferred }) => !isDeferred);
  if (named.length !== tools.length || request.system.units.length !== system.length) return false;
  const byName = new Map(tools.map((tool) => [nameOf(tool.unit), tool]));
  return (
    named.every((unit) => isSame(byName.get(nameOf(unit)), unit, { request, group: request.tools })) &&
    request.system.units.every((unit, at) => isSame(system[at], unit, { request, group: request.system }))
  );
}

type Copy = { readonly request: WireRequest; readonly group: WireGroup };

function isSame(known: HeadUnit | undefined, unit: WireUnit, { request, group }: Copy): boolean {
  if (known === undefined) return false;
  if (known.unit.hash === unit.hash) return true;
  const copy = unitBytes(request.bytes, group.range.start, unit);
  return isSameUnit(known.bytes, copy, { role: "system", isOwnLine: () => false });
}

/** `tool:<name>:<hash>`. One without a name, and one the model does not see yet, is told by all it says. */
function nameOf({ key, isDeferred }: WireUnit): string {
  return isDeferred || key.startsWith("tool::") ? key : key.slice(0, key.lastIndexOf(":"));
}

/** The field to send in place of the client's; undefined where the client's own will do. */
export function emitTools(head: Head, request: WireRequest): readonly Uint8Array[] | undefined {
  const { units, range } = request.tools;
  const known = [...head.tools, ...head.deferred.values()];
  const order = new Map(known.map((tool, at) => [nameOf(tool.unit), at]));
  for (const unit of units) {
    if (!unit.isDeferred || head.deferred.has(unit.key)) continue;
    const bytes = Buffer.from(unitBytes(request.bytes, range.start, unit));
    const tool = { unit, bytes, numbered: null };
    head.deferred.set(unit.key, tool);
    order.set(nameOf(unit), known.push(tool) - 1);
  }
  const placed = units.map((unit) => ({ unit, at: order.get(nameOf(unit)) ?? units.length }));
  const isInOrder = placed.every(({ at }, index) => index === 0 || at >= (placed[index - 1]?.at ?? 0));
  const hashes = new Set(head.tools.map(({ unit }) => unit.hash));
  const isAsKnown = units.every(({ hash, isDeferred }) => isDeferred || hashes.has(hash));
  if (isInOrder && isAsKnown) return undefined;
  const list = [...placed]
    .sort((a, b) => a.at - b.at)
    .map(({ unit, at }) => ({
      bytes: known[at]?.bytes ?? unitBytes(request.bytes, range.start, unit),
      mark: unit.mark,
    }));
  return emitList(list);
}

export function emitSystem(head: Head, request: WireRequest): readonly Uint8Array[] | undefined {
  const { units } = request.system;
  if (head.spelled?.units === units) return head.spelled.pieces;
  const isAsKnown = units.every(({ hash }, at) => head.system[at]?.unit.hash === hash);
  if (isAsKnown && head.instructions === null) return undefined;
  const client = units.map(({ mark }, at) => ({ bytes: head.system[at]?.bytes ?? Buffer.alloc(0), mark }));
  const own = head.instructions === null ? [] : [{ bytes: head.instructions, mark: null }];
  const pieces = emitList([...client, ...own]);
  head.spelled = { units, pieces };
  return pieces;
}
