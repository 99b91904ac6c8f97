import { detailTokensMin, type IdRange, idRanges } from "../awareness/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";
import { listed, safeText, shortened, splitUnquoted } from "./safe-text.ts";
import {
  type IdList,
  idList,
  readIds,
  readSize,
  roundSize,
  type Size,
  sizePattern,
  writeIds,
  writeSize,
} from "./sizes-and-ids.ts";
import { clockTime, dateText, pauseText, utcTime, zoneText } from "./time.ts";

/** Compact: one line for a turn. Full: a line for each message and each block. */
export type HeaderMode = "compact" | "full" | "off";

export type HeaderBlock = {
  readonly block: number;
  readonly kind: BlockKind;
  /** The subject of the block, if one word can name it: the file that was read. */
  readonly name?: string | null;
  readonly tokens: number;
  readonly exact: boolean;
  /** Turns left when the header was written, and the turn at which the block is lowered. */
  readonly ttl: { readonly turns: number; readonly until: number } | null;
  readonly state: BlockState;
};

export type BlockState = "pinned" | "pruned" | null;

export type HeaderMessage = {
  readonly message: number;
  readonly role: string;
  readonly from: string;
  readonly blocks: readonly HeaderBlock[];
};

/** A turn, as the ledger knows it when it writes the header. */
export type TurnHeader = {
  readonly nonce: string;
  readonly turn: number;
  readonly timeMs: number;
  /** The user's time zone, in minutes east of UTC. */
  readonly zoneMinutes: number;
  /** Since the last turn; null in the first one. */
  readonly sinceMs: number | null;
  /** True when the date differs from the last one a header gave. */
  readonly saysDate: boolean;
  /** The model's messages since the last header first, the message the header belongs to last. */
  readonly messages: readonly HeaderMessage[];
  /** Names mentioned lately, by which blocks can be found later. */
  readonly names?: readonly string[];
};

export type HeaderMark = Pick<TurnHeader, "nonce" | "turn">;

const nameCharsMax = 80;
/** If a turn has more large blocks than this, the header lists the largest. */
const detailsMax = 12;

/** The compact header of a turn, as written. */
export type HeaderNote = {
  readonly nonce: string;
  readonly turn: number;
  /** `14:05`, or `2026-11-15 14:05 UTC-5`. */
  readonly clock: string;
  /** `+2h10m`; null after a short pause. */
  readonly pause: string | null;
  readonly messages: readonly IdRange[];
  readonly blocks: IdList;
  readonly details: readonly HeaderDetail[];
  readonly names: readonly string[];
};

export type HeaderDetail = {
  readonly block: number;
  /** Kind and name: `result src/auth.ts`. The kind is left out if it is that of the detail before. */
  readonly label: string;
  readonly size: Size;
  /** The turn at which the block is lowered, its state, or null. */
  readonly end: number | BlockState;
};

export function compactHeader(header: TurnHeader): string {
  return writeHeader(headerNote(header));
}

function headerNote(header: TurnHeader): HeaderNote {
  const { nonce, turn, messages, names = [] } = header;
  const named = names.map((name) => shortened(safeText(name, nonce), nameCharsMax)).join(" ");
  return {
    nonce,
    turn,
    clock: localClock(header),
    pause: pauseText(header.sinceMs),
    messages: idRanges(messages.map(({ message }) => message)),
    blocks: idList(messages.flatMap(({ blocks }) => blocks.map(({ block }) => block))),
    details: headerDetails(
      nonce,
      messages.flatMap(({ blocks }) => blocks.filter(isWorthDetail)),
    ),
    names: named === "" ? [] : named.split(" "),
  };
}

/** `[k7f3 turn 31, 14:05 +2h10m: message 12 #41..#44; #43 result ~4.2k until 51; names auth.ts]` */
export function writeHeader(note: HeaderNote): string {
  const { nonce, turn, clock, pause, details, names } = note;
  const moment = pause === null ? clock : `${clock} ${pause}`;
  const parts = [
    writeMessages(note),
    writeDetails(details),
    names.length === 0 ? "" : `names ${names.join(" ")}`,
  ];
  const body = parts.filter((text) => text !== "").join("; ");
  return `[${nonce} turn ${turn}, ${moment}${body === "" ? "" : `: ${body}`}]`;
}

export function readHeader(text: string): HeaderNote | null {
  const found = headerForm.exec(text);
  if (found === null) return null;
  const [, nonce = "", turn, clock = "", pause = null, body = ""] = found;
  const [, messages = "", blocks = "", rest = ""] = messagesForm.exec(body) ?? [null, "", "", body];
  const ids = readIds(blocks.trimStart());
  const list = readDetails(rest);
  if (ids === null || list === null) return null;
  return { nonce, turn: Number(turn), clock, pause, messages: readNumbers(messages), blocks: ids, ...list };
}

const clockForm = "(?:\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d(?: UTC[\\d+:-]*)?";
const headerForm = new RegExp(`^\\[(\\w+) turn (\\d+), (${clockForm})(?: (\\+\\w+))?(?:: (.*))?\\]$`, "s");
const messagesForm = /^messages?((?: \d+(?:\.\.\d+)?)*)((?: #\d+(?:\.\.#\d+)?)*)(?:; |$)(.*)$/s;

/** `message 12 #41..#44`; of several, from the first to the last: `messages 9..12 #36..#44`. */
function writeMessages({ messages, blocks }: HeaderNote): string {
  const numbers = messages.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`)).join(" ");
  const [first] = messages;
  const isOne = messages.length === 1 && first?.from === first?.to;
  const text = [numbers, writeIds(blocks)].filter((part) => part !== "").join(" ");
  return text === "" ? "" : `${isOne ? "message" : "messages"} ${text}`;
}

function readNumbers(text: string): readonly IdRange[] {
  return [...text.matchAll(/(\d+)(?:\.\.(\d+))?/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to ?? from),
  }));
}

/** `#43 result ~4.2k, #44 ~0.9k until 51; #47 user ~1.1k until 53`: neighbours share one end. */
function writeDetails(details: readonly HeaderDetail[]): string {
  return details
    .map(({ block, label, size, end }, at) => {
      const [before, after] = [details[at - 1], details[at + 1]];
      const sign = before === undefined ? "" : before.end === end ? ", " : "; ";
      const shown = after !== undefined && after.end === end ? "" : writeEnd(end);
      const parts = [`#${block}`, label, writeSize(size), shown];
      return `${sign}${parts.filter((part) => part !== "").join(" ")}`;
    })
    .join("");
}

function writeEnd(end: HeaderDetail["end"]): string {
  return typeof end === "number" ? `until ${end}` : (end ?? "");
}

function readDetails(text: string): Pick<HeaderNote, "details" | "names"> | null {
  const parts = text === "" ? [] : splitUnquoted(text, "; ");
  const last = parts.at(-1)?.startsWith(namesStart) ? parts.pop() : undefined;
  const groups = parts.map(readGroup);
  const names = last === undefined ? [] : last.slice(namesStart.length).split(" ");
  return groups.some((group) => group === null)
    ? null
    : { details: groups.flatMap((group) => group ?? []), names };
}

const namesStart = "names ";

/** Details that share the end behind the last of them. */
function readGroup(text: string): readonly HeaderDetail[] | null {
  const found = groupForm.exec(text);
  const [, list = "", until, state] = found ?? [];
  const end = until === undefined ? ((state ?? null) as BlockState) : Number(until);
  const details = splitUnquoted(list, ", ").map((item) => {
    const [, block, label = "", size = ""] = detailForm.exec(item) ?? [];
    const read = readSize(size);
    return read === null ? null : { block: Number(block), label, size: read, end };
  });
  return details.some((detail) => detail === null) ? null : details.flatMap((detail) => detail ?? []);
}

const groupForm = /^(.*?)(?: until (\d+)| (pinned|pruned))?$/s;
const detailForm = new RegExp(`^#(\\d+)(?: (.+))? (${sizePattern})$`, "s");

/** `--- Message ID: 12 | Role: user | From: client | Time: 2026-11-15T19:05:11Z | Tokens: ~812 | k7f3 ---` */
export type MessageHeaderNote = {
  readonly nonce: string;
  readonly message: number;
  readonly role: string;
  readonly from: string;
  readonly time: string;
  readonly size: Size;
  readonly state: BlockState;
};

export function messageHeader({ nonce, timeMs }: TurnHeader, message: HeaderMessage): string {
  const { blocks } = message;
  return writeMessageHeader({
    nonce,
    message: message.message,
    role: speakerText(message.role, nonce),
    from: speakerText(message.from, nonce),
    time: utcTime(timeMs),
    size: {
      tokens: blocks.reduce((sum, block) => sum + block.tokens, 0),
      exact: blocks.every(({ exact }) => exact),
    },
    state: commonState(blocks),
  });
}

export function writeMessageHeader(note: MessageHeaderNote): string {
  const { nonce, message, role, from, time, size, state } = note;
  const fields = [
    `Message ID: ${message}`,
    `Role: ${role}`,
    `From: ${from}`,
    `Time: ${time}`,
    writeTokens(size),
    ...writeState(state),
    nonce,
  ];
  return `--- ${fields.join(" | ")} ---`;
}

export function readMessageHeader(text: string): MessageHeaderNote | null {
  const found = messageForm.exec(text);
  if (found === null) return null;
  const [, message, role = "", from = "", time = "", tokens = "", state, nonce = ""] = found;
  return {
    nonce,
    message: Number(message),
    role,
    from,
    time,
    size: readTokens(tokens),
    state: readState(state),
  };
}

const tokensForm = "Tokens: (~?\\d+)";
const stateForm = "(?: \\| (PINNED|PRUNED))?";
const messageForm = new RegExp(
  `^--- Message ID: (\\d+) \\| Role: ([^|]*) \\| From: ([^|]*) \\| Time: ([^|]*) \\| ${tokensForm}${stateForm} \\| (\\w+) ---$`,
);

/** `[Part ID: 27 | Type: tool-result | Tokens: ~4210 | Turns Left: 20 at turn 31 (until turn 51) | k7f3]` */
export type PartHeaderNote = PartFields & {
  readonly nonce: string;
  /** Turns left would be wrong one turn later: the header is never rewritten, so it says since when. */
  readonly left: { readonly turns: number; readonly at: number; readonly until: number } | null;
  readonly state: BlockState;
};

export type PartFields = { readonly block: number; readonly kind: BlockKind; readonly size: Size };

export function partHeader({ nonce, turn }: HeaderMark, block: HeaderBlock): string {
  const { ttl, state } = block;
  const left = ttl === null ? null : { turns: ttl.turns, at: turn, until: ttl.until };
  return writePartHeader({ ...partOf(block), nonce, left, state });
}

export function writePartHeader({ nonce, left, state, ...part }: PartHeaderNote): string {
  const turns =
    left === null ? [] : [`Turns Left: ${left.turns} at turn ${left.at} (until turn ${left.until})`];
  return `[${[...writePart(part), ...turns, ...writeState(state), nonce].join(" | ")}]`;
}

export function readPartHeader(text: string): PartHeaderNote | null {
  const found = partHeaderForm.exec(text);
  if (found === null) return null;
  const [, block, kind, tokens = "", turns, at, until, state, nonce = ""] = found;
  const left = turns === undefined ? null : { turns: Number(turns), at: Number(at), until: Number(until) };
  const part = { block: Number(block), kind: kind as BlockKind, size: readTokens(tokens) };
  return { ...part, nonce, left, state: readState(state) };
}

const leftForm = "(?: \\| Turns Left: (-?\\d+) at turn (\\d+) \\(until turn (\\d+)\\))?";
/** The beginning of every full line about a block. */
export const partForm = `Part ID: (\\d+) \\| Type: ([a-z-]+) \\| ${tokensForm}`;
const partHeaderForm = new RegExp(`^\\[${partForm}${leftForm}${stateForm} \\| (\\w+)\\]$`);

export function partOf({ block, kind, tokens, exact }: HeaderBlock): PartFields {
  return { block, kind, size: { tokens: Math.round(tokens), exact } };
}

export function writePart({ block, kind, size }: PartFields): readonly string[] {
  return [`Part ID: ${block}`, `Type: ${kind}`, writeTokens(size)];
}

function writeTokens({ tokens, exact }: Size): string {
  return `Tokens: ${exact ? "" : "~"}${Math.round(tokens)}`;
}

/** Full lines give whole numbers. */
export function readTokens(text: string): Size {
  const exact = !text.startsWith("~");
  return { tokens: Number(exact ? text : text.slice(1)), exact };
}

function writeState(state: BlockState): readonly string[] {
  return state === null ? [] : [state.toUpperCase()];
}

function readState(text: string | undefined): BlockState {
  return text === undefined ? null : (text.toLowerCase() as BlockState);
}

/** The kind in one word, for a line where the number stands beside it. */
export function kindWord(kind: BlockKind): string {
  if (kind === "tool-result") return "result";
  return kind === "tool-call" ? "call" : kind;
}

function localClock({ timeMs, zoneMinutes, saysDate }: TurnHeader): string {
  const local = timeMs + zoneMinutes * 60_000;
  return saysDate ? `${dateText(local)} ${clockTime(local)} ${zoneText(zoneMinutes)}` : clockTime(local);
}

const modelKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call"];

/** The model knows its own blocks and how long they are. */
function isWorthDetail({ kind, tokens, state }: HeaderBlock): boolean {
  return state !== null || (tokens >= detailTokensMin && !modelKinds.includes(kind));
}

function headerDetails(nonce: string, blocks: readonly HeaderBlock[]): readonly HeaderDetail[] {
  const least = [...blocks].sort((a, b) => b.tokens - a.tokens)[detailsMax - 1]?.tokens ?? 0;
  const shown = blocks.filter(({ tokens }) => tokens >= least).slice(0, detailsMax);
  return shown.map((block, at) => {
    const { kind, name, ttl, state } = block;
    const called = listed(shortened(safeText(name ?? "", nonce), nameCharsMax));
    const word = kind === shown[at - 1]?.kind ? "" : kindWord(kind);
    const label = [word, called].filter((text) => text !== "").join(" ");
    return { block: block.block, label, size: roundSize(block), end: state ?? ttl?.until ?? null };
  });
}

function speakerText(text: string, nonce: string): string {
  return shortened(safeText(text, nonce), 40);
}

/** A message is pinned or pruned if all of its blocks are. */
function commonState(blocks: readonly HeaderBlock[]): BlockState {
  const [first] = blocks;
  return first !== undefined && blocks.every(({ state }) => state === first.state) ? first.state : null;
}
