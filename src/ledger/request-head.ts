import { type ContentHash, hashContent } from "../base/index.ts";
import { commandTools, isCommandTool } from "../commands/index.ts";
import { type NumberedBlock, nodeId, type SentRequestUnit } from "../exchange/index.ts";
import { instructions, tellsTextCommands } from "../notes/index.ts";
import {
  type Protocol,
  protocolOf,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../protocols/index.ts";
import type { TokenCounter } from "../tokens/index.ts";
import type { NumberDraft } from "./block-numbers.ts";
import { type NodeIndex, ownKey } from "./node.ts";

/** A tool or a system text with the bytes it was first sent with. */
export type HeadUnit = {
  readonly unit: WireUnit;
  readonly bytes: Uint8Array;
  readonly numbered: NumberedBlock | null;
};

/**
 * How a model commands: by calls of our tools, or by command lines in its texts. Client: the client offers
 * our tools as its own, explains them and makes the calls, so the ledger adds nothing to the head.
 */
export type CommandForm = "tools" | "text" | "client";

/**
 * Everything before the messages: tools, then system texts, then our instructions. A request with another
 * tool or system text has another head, with messages of its own.
 */
export type RequestHead = {
  readonly tools: readonly HeadUnit[];
  readonly system: readonly HeadUnit[];
  /** Null if we joined the stream later, or it is sent without our units. */
  readonly instructions: Uint8Array | null;
  /** Our tools, after the client's. */
  readonly ownTools: readonly Uint8Array[];
  /** Whether its instructions explain command lines: then its answers may contain some. */
  readonly hasTextCommands: boolean;
  /** The node below which its messages hang. */
  readonly root: NodeIndex;
  /** Tools the model does not see yet, in the order of their first request. They belong to no path. */
  readonly deferred: ReadonlyMap<string, HeadUnit>;
  readonly units: readonly SentRequestUnit[];
  /** Whether the log has its units. */
  readonly isReported: boolean;
  /** The fields as they were last written. */
  readonly toolsField: HeadField | null;
  readonly systemField: HeadField | null;
};

/** A head before it has a root. */
export type HeadDraft = Omit<RequestHead, "root">;

/** A field of the body, and the client's units it was written from. */
type HeadField = {
  readonly units: readonly WireUnit[];
  /** Undefined if the client's own bytes are sent. */
  readonly pieces: readonly Uint8Array[] | undefined;
};

/** Our part of a head. */
export type OwnHead = { readonly instructions: Uint8Array | null; readonly tools: readonly Uint8Array[] };

export const noOwnHead: OwnHead = { instructions: null, tools: [] };

export function ownHead({ write }: Protocol, nonce: string, commands: CommandForm = "tools"): OwnHead {
  if (commands === "client") return noOwnHead;
  if (commands === "text") {
    const text = instructions(nonce, { hasTools: false, hasTextCommands: true });
    return { instructions: write.text(text), tools: [] };
  }
  const tools = commandTools.map((tool) => write.tool(tool));
  return { instructions: write.text(instructions(nonce, { hasTools: true })), tools };
}

/** A client with tools of our names gets no head of ours: a call would not tell whose tool it means. */
export function ownHeadFor(request: WireRequest, own: OwnHead): OwnHead {
  return hasOurNames(request) ? noOwnHead : own;
}

function hasOurNames({ tools }: WireRequest): boolean {
  return tools.units.some(({ key }) => isCommandTool(key.split(":")[1] ?? ""));
}

export type HeadInput = {
  readonly request: WireRequest;
  readonly ownHead: OwnHead;
  readonly draft: NumberDraft;
  readonly counter: TokenCounter;
};

export function openHead({ request, ownHead, draft, counter }: HeadInput): HeadDraft {
  const units = [request.tools, request.system].flatMap((group) =>
    numberHeadUnits(headUnits(request, group), draft, counter),
  );
  return buildHead(protocolOf(request), units, ownHead);
}

/** Numbers the units of a head. Equal texts are told apart by their order. */
function numberHeadUnits(
  units: readonly HeadUnit[],
  draft: NumberDraft,
  counter: TokenCounter,
): readonly HeadUnit[] {
  const counts = new Map<string, number>();
  draft.openMessage();
  return units.map((headUnit) => {
    const { key, kind, isDeferred } = headUnit.unit;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    if (isDeferred) return headUnit;
    const tokens = counter.count({ bytes: headUnit.bytes, kind });
    return { ...headUnit, numbered: draft.numberBlock({ key, kind, tokens }, nth) };
  });
}

/** Makes a head of units in their order. Our tools come after the client's tools, our instructions last. */
export function buildHead({ read }: Protocol, units: readonly HeadUnit[], own: OwnHead): HeadDraft {
  const sentUnits: SentRequestUnit[] = [];
  const add = (unit: Omit<SentRequestUnit, "id" | "parent">, hash: ContentHash): void => {
    const parent = sentUnits.at(-1)?.id ?? null;
    sentUnits.push({ ...unit, id: nodeId(parent, unit.key, hash), parent });
  };
  const addOwn = (bytes: Uint8Array): void => {
    const hash = hashContent(bytes);
    const own = { origin: "aperture", clientIndex: null, numbered: null, as: "original" } as const;
    add({ ...own, key: ownKey(hash), bytes }, hash);
  };
  const addClient = (section: WireUnit["section"]): void => {
    for (const [at, { unit, bytes, numbered }] of units.entries()) {
      if (unit.isDeferred || unit.section !== section) continue;
      add({ origin: "client", key: unit.key, clientIndex: at, numbered, as: "original", bytes }, unit.hash);
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
    hasTextCommands: own.instructions !== null && tellsTextCommands(read.text(own.instructions) ?? ""),
    deferred: new Map(tools.filter(({ unit }) => unit.isDeferred).map((tool) => [tool.unit.key, tool])),
    units: sentUnits,
    isReported: false,
    toolsField: null,
    systemField: null,
  };
}

/** The id of the last unit of a head, which every path below it continues. */
export function headIdOf({ units }: HeadDraft): string {
  return units.at(-1)?.id ?? "";
}

function headUnits(request: WireRequest, { units, range }: WireGroup): readonly HeadUnit[] {
  return units.map((unit) => ({
    unit,
    bytes: Uint8Array.from(unitBytes(request.bytes, range.start, unit)),
    numbered: null,
  }));
}

/** Whether a request has this head: the same tools in any order, and the same system texts in order. */
export function matchesHead({ tools, system, ownTools }: RequestHead, request: WireRequest): boolean {
  // A deferred tool belongs to no head, but the provider refuses two tools of one name.
  if (ownTools.length > 0 && hasOurNames(request)) return false;
  const visible = request.tools.units.filter(({ isDeferred }) => !isDeferred);
  if (visible.length !== tools.length || request.system.units.length !== system.length) return false;
  const byName = new Map(tools.map((tool) => [toolKeyOf(tool.unit), tool]));
  return (
    visible.every((unit) =>
      isSameHeadUnit(byName.get(toolKeyOf(unit)), unit, { request, group: request.tools }),
    ) &&
    request.system.units.every((unit, at) =>
      isSameHeadUnit(system[at], unit, { request, group: request.system }),
    )
  );
}

function isSameHeadUnit(
  known: HeadUnit | undefined,
  unit: WireUnit,
  { request, group }: { readonly request: WireRequest; readonly group: WireGroup },
): boolean {
  if (known === undefined) return false;
  if (known.unit.hash === unit.hash) return true;
  const copy = unitBytes(request.bytes, group.range.start, unit);
  return protocolOf(unit).read.isSame(known.bytes, copy, { role: "system", isOwnLine: () => false });
}

/** The `tool:<name>` of a key `tool:<name>:<hash>`. Tools without a name and deferred ones keep their key. */
function toolKeyOf({ key, isDeferred }: WireUnit): string {
  return isDeferred || key.startsWith("tool::") ? key : key.slice(0, key.lastIndexOf(":"));
}

/** The head with the fields of a request. They are written again only if the client's units are others. */
export function withFields(head: RequestHead, request: WireRequest): RequestHead {
  const { tools, system } = request;
  const isWritten = head.toolsField?.units === tools.units && head.systemField?.units === system.units;
  if (isWritten) return head;
  const deferred = deferredTools(head, request);
  const systemField = { units: system.units, pieces: writeSystem(head, request) };
  const toolsField = { units: tools.units, pieces: writeTools({ ...head, deferred }, request) };
  return { ...head, deferred, toolsField, systemField };
}

/** The deferred tools of a head, with those that this request has for the first time at the end. */
function deferredTools({ deferred }: RequestHead, { tools, bytes }: WireRequest): RequestHead["deferred"] {
  const fresh = tools.units.filter(({ isDeferred, key }) => isDeferred && !deferred.has(key));
  if (fresh.length === 0) return deferred;
  const copies = fresh.map((unit): readonly [string, HeadUnit] => {
    const copy = Buffer.from(unitBytes(bytes, tools.range.start, unit));
    return [unit.key, { unit, bytes: copy, numbered: null }];
  });
  return new Map([...deferred, ...copies]);
}

/** The tools to send in place of the client's. Undefined if the client's own bytes are the same. */
function writeTools(head: RequestHead, request: WireRequest): readonly Uint8Array[] | undefined {
  const { units, range } = request.tools;
  const known = [...head.tools, ...head.deferred.values()];
  const order = new Map(known.map((tool, at) => [toolKeyOf(tool.unit), at]));
  const ordered = units.map((unit) => ({ unit, at: order.get(toolKeyOf(unit)) ?? units.length }));
  const isInOrder = ordered.every(({ at }, index) => index === 0 || at >= (ordered[index - 1]?.at ?? 0));
  const hashes = new Set(head.tools.map(({ unit }) => unit.hash));
  const isUnchanged = units.every(({ hash, isDeferred }) => isDeferred || hashes.has(hash));
  if (isInOrder && isUnchanged && head.ownTools.length === 0) return undefined;
  const list = [...ordered]
    .sort((a, b) => a.at - b.at)
    .map(({ unit, at }) => ({
      bytes: known[at]?.bytes ?? unitBytes(request.bytes, range.start, unit),
      mark: unit.mark,
    }));
  return protocolOf(request).write.list([...list, ...head.ownTools.map((bytes) => ({ bytes, mark: null }))]);
}

/** The system texts to send in place of the client's. Undefined if the client's own bytes are the same. */
function writeSystem(head: RequestHead, request: WireRequest): readonly Uint8Array[] | undefined {
  const { units } = request.system;
  const isUnchanged = units.every(({ hash }, at) => head.system[at]?.unit.hash === hash);
  if (isUnchanged && head.instructions === null) return undefined;
  const client = units.map(({ mark }, at) => ({ bytes: head.system[at]?.bytes ?? Buffer.alloc(0), mark }));
  const own = head.instructions === null ? [] : [{ bytes: head.instructions, mark: null }];
  return protocolOf(request).write.list([...client, ...own]);
}
