import { hashContent, must } from "../base/index.ts";
import type { NumberedBlock } from "../exchange/index.ts";
import {
  compactHeader,
  type HeaderBlock,
  type HeaderMessage,
  type HeaderMode,
  messageHeader,
  partHeader,
  type TurnHeader,
} from "../notes/index.ts";
import { type Protocol, protocolOf } from "../protocols/index.ts";
import { type LedgerTree, parentOf } from "./ledger-tree.ts";
import type { LedgerNode } from "./node.ts";
import { ownTextUnit, type PlannedUnit } from "./planned-units.ts";

/** The content of a turn's header. */
export type HeaderInput = {
  readonly protocol: Protocol;
  readonly headers: HeaderMode;
  readonly timeMs: number;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
  /** Names that the next header tells. */
  readonly names: readonly string[];
  readonly nonce: string;
  readonly turn: number;
  /** The time of the previous turn. Null if there was none. */
  readonly lastTurnMs: number | null;
  /** Blocks that were sent before without being announced. */
  readonly earlierBlocks: readonly NumberedBlock[];
  /** Lines for memories that the request does not contain yet. */
  readonly memoryLines: readonly string[];
};

/** A header is due after this many tokens without one, or after this much time. */
const headerEveryTokens = 14_000;
const headerEveryMs = 5 * 60_000;

/** The blocks on the path to a node whose numbers the model does not know. */
export function unannouncedBlocks(tree: LedgerTree, end: LedgerNode): readonly NumberedBlock[] {
  const found: NumberedBlock[] = [];
  for (let at: LedgerNode | null = end; at !== null && !at.isAnnounced; at = parentOf(tree, at)) {
    if (at.numbered !== null) found.push(at.numbered);
  }
  return found.reverse();
}

/** Adds headers to the last user message among the new units. Messages of the model never get one. */
export function addHeaders(input: HeaderInput, units: readonly PlannedUnit[]): readonly PlannedUnit[] {
  const span = lastUserSpan(units);
  const { headers, memoryLines } = input;
  if (span === null) return units;
  if (headers === "off") {
    const text = memoryLines.join("\n");
    if (memoryLines.length === 0) return units;
    return insertNote(units, span, (place) => ownTextUnit(input.protocol, text, place));
  }
  if (headers === "full") return addFullHeaders(input, units, span);
  const header = turnHeader(input, units);
  const isDue = memoryLines.length > 0 || isHeaderDue(header);
  return isDue
    ? addHeaderLine(input.protocol, units, {
        span,
        text: [compactHeader(header), ...memoryLines].join("\n"),
      })
    : units;
}

/** The indexes of the first and last unit of a message. */
export type MessageSpan = { readonly first: number; readonly last: number };

export function lastUserSpan(units: readonly PlannedUnit[]): MessageSpan | null {
  const last = units.findLastIndex(({ wrapping }) => wrapping.role === "user");
  if (last === -1) return null;
  let first = last;
  while (first > 0 && units[first]?.opensMessage === false) first -= 1;
  return { first, last };
}

function turnHeader(
  { timeMs, zoneMinutes, names, nonce, turn, lastTurnMs, earlierBlocks }: HeaderInput,
  units: readonly PlannedUnit[],
): TurnHeader {
  const fresh = units.flatMap(({ numbered }) => (numbered === null ? [] : [numbered]));
  const sinceMs = lastTurnMs === null ? null : Math.max(0, timeMs - lastTurnMs);
  const saysDate = lastTurnMs === null || dayOf(lastTurnMs, zoneMinutes) !== dayOf(timeMs, zoneMinutes);
  const messages = headerMessages([...earlierBlocks, ...fresh], turn);
  return { nonce, turn, timeMs, zoneMinutes, sinceMs, saysDate, messages, names };
}

function dayOf(timeMs: number, zoneMinutes: number): number {
  return Math.floor((timeMs + zoneMinutes * 60_000) / 86_400_000);
}

/** A header is due for a user's text, after many new tokens, and after a while. */
function isHeaderDue({ sinceMs, messages }: TurnHeader): boolean {
  if (sinceMs === null || sinceMs >= headerEveryMs) return true;
  const blocks = messages.flatMap((message) => message.blocks);
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  return tokens >= headerEveryTokens || blocks.some(({ kind }) => kind === "user");
}

/** Groups blocks by message, in the order of their first block. */
export function headerMessages(blocks: readonly NumberedBlock[], turn: number): readonly HeaderMessage[] {
  const messages = new Map<number, HeaderBlock[]>();
  for (const numbered of blocks) {
    const group = messages.get(numbered.message) ?? [];
    messages.set(numbered.message, group);
    group.push(headerBlock(numbered, turn));
  }
  return [...messages].map(([message, group]) => ({ message, ...speakerOf(group), blocks: group }));
}

function headerBlock({ block, kind, tokens, ttl }: NumberedBlock, turn: number): HeaderBlock {
  const until = ttl === null ? null : { turns: Math.max(0, ttl.at - turn), until: ttl.at };
  return { block, kind, tokens, exact: false, ttl: until, state: null };
}

const modelKinds: readonly string[] = ["assistant", "reasoning", "tool-call"];

function speakerOf([first]: readonly HeaderBlock[]): Pick<HeaderMessage, "role" | "from"> {
  const kind = first?.kind ?? "";
  if (modelKinds.includes(kind)) return { role: "assistant", from: "model" };
  return { role: kind === "system" ? "system" : "user", from: "client" };
}

/** Puts a header line before the user's text, but after tool results: nothing may stand before those. */
export function addHeaderLine(
  protocol: Protocol,
  units: readonly PlannedUnit[],
  { span, text }: { readonly span: MessageSpan; readonly text: string },
): readonly PlannedUnit[] {
  return insertNote(units, span, (place) => headerUnit(protocol, text, place));
}

type NotePlace = Pick<PlannedUnit, "wrapping" | "opensMessage">;
type NoteWriter = (place: NotePlace) => PlannedUnit;

function insertNote(
  units: readonly PlannedUnit[],
  { first, last }: MessageSpan,
  writeNote: NoteWriter,
): readonly PlannedUnit[] {
  const at = units.findIndex(
    ({ facts }, index) => index >= first && index <= last && facts.part !== "result",
  );
  const next = units[at];
  if (next === undefined) {
    const { wrapping } = must(units[last], "a span lies among the units");
    return [
      ...units.slice(0, last + 1),
      writeNote({ wrapping, opensMessage: false }),
      ...units.slice(last + 1),
    ];
  }
  const note = writeNote(next);
  return [...units.slice(0, at), note, { ...next, opensMessage: false }, ...units.slice(at + 1)];
}

function headerUnit(protocol: Protocol, text: string, place: NotePlace): PlannedUnit {
  return { ...ownTextUnit(protocol, text, place), isHeader: true };
}

/** Puts a header before each part, or inside a part that nothing may precede. */
function addFullHeaders(
  input: HeaderInput,
  units: readonly PlannedUnit[],
  { first, last }: MessageSpan,
): readonly PlannedUnit[] {
  const header = turnHeader(input, units);
  const messages = new Set(units.slice(first, last + 1).map(({ numbered }) => numbered?.message));
  const earlier = header.messages.filter(({ message }) => !messages.has(message));
  const earlierLines = earlier.flatMap((message) => [
    messageHeader(header, message),
    ...message.blocks.map((block) => partHeader(header, block)),
  ]);
  const current = header.messages.filter(({ message }) => messages.has(message));
  const messageLines = current.map((message) => messageHeader(header, message));
  let lines = [...input.memoryLines, ...earlierLines, ...messageLines];
  const headed = units.slice(first, last + 1).flatMap((unit) => {
    const { numbered } = unit;
    const part = numbered === null ? [] : [partHeader(header, headerBlock(numbered, header.turn))];
    const text = [...lines, ...part].join("\n");
    lines = [];
    return text === "" ? [unit] : addPartHeader(unit, text);
  });
  return [...units.slice(0, first), ...headed, ...units.slice(last + 1)];
}

function addPartHeader(unit: PlannedUnit, text: string): readonly PlannedUnit[] {
  if (unit.facts.part !== "result")
    return [headerUnit(protocolOf(unit.facts), text, unit), { ...unit, opensMessage: false }];
  const bytes = protocolOf(unit.facts).write.prependToResult(unit.bytes, text);
  if (bytes === null) return [unit];
  const original = unit.original ?? Uint8Array.from(unit.bytes);
  return [{ ...unit, bytes, hash: hashContent(bytes), isRewritten: true, original, isHeader: true }];
}
