import { type ContentHash, hashContent } from "../../base/index.ts";
import { commandTools, isCommandTool } from "../../commands/index.ts";
import {
  emitList,
  spokenIn,
  textBlock,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import { instructions, tellsTextCommands } from "../../render/index.ts";
import type { Numbered, SentUnit } from "../desk-port.ts";
import { placeId } from "../place-id.ts";
import type { TokenGauge } from "../unit-tokens.ts";
import type { NumberDraft } from "./numbers.ts";
import { type Place, rootPlace } from "./place.ts";
import type { CommandForm } from "./saying.ts";
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
  /** Our tools, behind the client's. */
  readonly ownTools: readonly Uint8Array[];
  /** Whether its instructions tell of commands as lines of text: then its answers may hold some. */
  readonly hasTextCommands: boolean;
  readonly root: Place;
  /** Tools the model does not see yet, in the order in which they came. They belong to no path. */
  readonly deferred: Map<string, HeadUnit>;
  readonly units: readonly SentUnit[];
  /** Whether the log was told of its units. */
  isTold: boolean;
  /** How the tools and the system texts were spelled last. */
  spelledTools: Spelled | null;
  spelled: Spelled | null;
};

/** For the units they were spelled from; undefined where the client's own spelling will do. */
type Spelled = { readonly units: readonly WireUnit[]; readonly pieces: readonly Uint8Array[] | undefined };

/** What of ours stands in front of the messages. */
export type OwnHead = { readonly instructions: Uint8Array | null; readonly tools: readonly Uint8Array[] };

export const nothingOwn: OwnHead = { instructions: null, tools: [] };

const toolBytes = commandTools.map((tool) => Buffer.from(JSON.stringify(tool)));

export function ownHead(nonce: string, commands: CommandForm = "tools"): OwnHead {
  if (commands === "text") {
    const told = instructions(nonce, { hasTools: false, hasTextCommands: true });
    return { instructions: textBlock(told), tools: [] };
  }
  return { instructions: textBlock(instructions(nonce, { hasTools: true })), tools: toolBytes };
}

/** A client that has tools of our names gets nothing in front: nobody could tell whose is called. */
export function ownFor(request: WireRequest, own: OwnHead): OwnHead {
  return hasOurNames(request) ? nothingOwn : own;
}

function hasOurNames({ tools }: WireRequest): boolean {
  return tools.units.some(({ key }) => isCommandTool(key.split(":")[1] ?? ""));
}

export type HeadAsked = {
  readonly request: WireRequest;
  readonly own: OwnHead;
  readonly draft: NumberDraft;
  readonly gauge: TokenGauge;
};

export function openHead({ request, own, draft, gauge }: HeadAsked): Head {
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
    return { ...one, numbered: draft.number({ key, kind, tokens }, () => nth) };
  });
}

/** A head made of units in their order, with ours behind the tools and at the end. */
export function headFrom(units: readonly HeadUnit[], own: OwnHead): Head {
  const fresh: SentUnit[] = [];
  const add = (unit: Omit<SentUnit, "id" | "parent">, hash: ContentHash): void => {
    const parent = fresh.at(-1)?.id ?? null;
    fresh.push({ ...unit, id: placeId(parent, unit.key, hash), parent });
  };
  const addOwn = (bytes: Uint8Array): void => {
    const hash = hashContent(bytes);
    const shown = { unit: null, numbered: null, as: "original" } as const;
    add({ origin: "aperture", key: ownKey(hash), bytes, ...shown }, hash);
  };
  const addClient = (section: WireUnit["section"]): void => {
    for (const [at, { unit, bytes, numbered }] of units.entries()) {
      if (unit.isDeferred || unit.section !== section) continue;
      add({ origin: "client", key: unit.key, unit: at, numbered, as: "original", bytes }, unit.hash);
    }
  };
  addClient("tools");
  for (const tool of own.tools) addOwn(tool);
  addClient("system");
  if (own.instructions !== null) addOwn(own.instructions);
  const tools = units.filter(({ unit }) => unit.section === "tools");
  return {
    tools: tools.filter(({ unit }) => !unit.isDeferred),
    system: units.filter(({ unit }) => unit.section === "system"),
    instructions: own.instructions,
    ownTools: own.tools,
    hasTextCommands: own.instructions !== null && tellsTextCommands(wordsIn(own.instructions)),
    root: rootPlace(fresh.at(-1)?.id ?? ""),
    deferred: new Map(tools.filter(({ unit }) => unit.isDeferred).map((tool) => [tool.unit.key, tool])),
    units: fresh,
    isTold: false,
    spelledTools: null,
    spelled: null,
  };
}

function wordsIn(block: Uint8Array): string {
  const spoken = spokenIn(block);
  return spoken?.type === "text" ? spoken.text : "";
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
export function hasHead({ tools, system, ownTools }: Head, request: WireRequest): boolean {
  // A deferred tool belongs to no head, but two of one name are refused.
  if (ownTools.length > 0 && hasOurNames(request)) return false;
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
  const { units } = request.tools;
  if (head.spelledTools?.units === units) return head.spelledTools.pieces;
  const pieces = spellTools(head, request);
  head.spelledTools = { units, pieces };
  return pieces;
}

function spellTools(head: Head, request: WireRequest): readonly Uint8Array[] | undefined {
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
  if (isInOrder && isAsKnown && head.ownTools.length === 0) return undefined;
  const list = [...placed]
    .sort((a, b) => a.at - b.at)
    .map(({ unit, at }) => ({
      bytes: known[at]?.bytes ?? unitBytes(request.bytes, range.start, unit),
      mark: unit.mark,
    }));
  return emitList([...list, ...head.ownTools.map((bytes) => ({ bytes, mark: null }))]);
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
