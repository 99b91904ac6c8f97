import type { BlockKind } from "../engine/index.ts";
import { idRanges, idsText, markedSize } from "./numbers.ts";
import { listed, safeText, shortened } from "./safe-text.ts";
import { clockText, dateText, isoTime, pauseText, zoneText } from "./time.ts";

/** Compact: one line for a turn. Full: a line for each message and each block. */
export type HeaderMode = "compact" | "full" | "off";

export type HeaderBlock = {
  readonly block: number;
  readonly kind: BlockKind;
  /** What it is about, where that is worth a word: the file that was read. */
  readonly name?: string | null;
  readonly tokens: number;
  readonly exact: boolean;
  /** Turns left when the header was written, and the turn at which the block is lowered. */
  readonly ttl: { readonly turns: number; readonly until: number } | null;
  readonly state: "pinned" | "pruned" | null;
};

export type HeaderMessage = {
  readonly message: number;
  readonly role: string;
  readonly from: string;
  readonly blocks: readonly HeaderBlock[];
};

export type TurnHeader = {
  readonly nonce: string;
  readonly turn: number;
  readonly timeMs: number;
  /** The user's time zone, in minutes east of UTC. */
  readonly zoneMinutes: number;
  /** Since the last turn; null: this is the first. */
  readonly sinceMs: number | null;
  /** The date is said when it is another than the last one said. */
  readonly saysDate: boolean;
  /** What the model said since the last header first, the message the header belongs to last. */
  readonly messages: readonly HeaderMessage[];
  /** Names that were spoken of lately, to be found by later. */
  readonly names?: readonly string[];
};

export type HeaderMark = Pick<TurnHeader, "nonce" | "turn">;

/** Smaller blocks are not worth the words about them. */
export const detailTokensMin = 2_000;
const nameCharsMax = 80;
/** Of very many, the largest. */
const detailsMax = 12;

/** `[k7f3 turn 31, 14:05 +2h10m: message 12 #41..#44; #43 result ~4.2k until 51]` */
export function compactHeader(header: TurnHeader): string {
  const { nonce, turn, messages, names = [] } = header;
  const detailed = messages.flatMap(({ blocks }) => blocks.filter(isWorthDetail));
  const named = names.map((name) => shortened(safeText(name, nonce), nameCharsMax)).join(" ");
  const parts = [messagesText(messages), detailsText(nonce, detailed), named === "" ? "" : `names ${named}`];
  const body = parts.filter((text) => text !== "").join("; ");
  return `[${nonce} turn ${turn}, ${momentText(header)}${body === "" ? "" : `: ${body}`}]`;
}

/** `--- Message ID: 12 | Role: user | From: client | Time: 2026-11-15T19:05:11Z | Tokens: ~812 | k7f3 ---` */
export function messageHeader(header: TurnHeader, message: HeaderMessage): string {
  const { nonce, timeMs } = header;
  const { blocks } = message;
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  const fields = [
    `Message ID: ${message.message}`,
    `Role: ${speakerText(message.role, nonce)}`,
    `From: ${speakerText(message.from, nonce)}`,
    `Time: ${isoTime(timeMs)}`,
    `Tokens: ${wholeSize(
      tokens,
      blocks.every(({ exact }) => exact),
    )}`,
    ...stateField(commonState(blocks)),
    nonce,
  ];
  return `--- ${fields.join(" | ")} ---`;
}

/** `[Part ID: 27 | Type: tool-result | Tokens: ~4210 | Turns Left: 20 at turn 31 (until turn 51) | k7f3]` */
export function partHeader({ nonce, turn }: HeaderMark, block: HeaderBlock): string {
  const { ttl } = block;
  // Turns left alone would be wrong one turn later: a header is never rewritten, so it says since when.
  const left = ttl === null ? [] : [`Turns Left: ${ttl.turns} at turn ${turn} (until turn ${ttl.until})`];
  return `[${[...partFields(block), ...left, ...stateField(block.state), nonce].join(" | ")}]`;
}

export function partFields({ block, kind, tokens, exact }: HeaderBlock): readonly string[] {
  return [`Part ID: ${block}`, `Type: ${kind}`, `Tokens: ${wholeSize(tokens, exact)}`];
}

/** The kind in one word, for a line where the number stands beside it. */
export function kindWord(kind: BlockKind): string {
  if (kind === "tool-result") return "result";
  return kind === "tool-call" ? "call" : kind;
}

function momentText({ timeMs, zoneMinutes, sinceMs, saysDate }: TurnHeader): string {
  const local = timeMs + zoneMinutes * 60_000;
  const clock = saysDate
    ? `${dateText(local)} ${clockText(local)} ${zoneText(zoneMinutes)}`
    : clockText(local);
  return [clock, pauseText(sinceMs)].filter((text) => text !== null).join(" ");
}

/** `message 12 #41..#44`; of several, from the first to the last: `messages 9..12 #36..#44`. */
function messagesText(messages: readonly HeaderMessage[]): string {
  const ids = idRanges(messages.map(({ message }) => message));
  const numbers = ids.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`)).join(" ");
  const blocks = idsText(messages.flatMap((message) => message.blocks.map(({ block }) => block)));
  const said = [numbers, blocks].filter((text) => text !== "").join(" ");
  return said === "" ? "" : `${messages.length === 1 ? "message" : "messages"} ${said}`;
}

const saidByModel: readonly BlockKind[] = ["assistant", "reasoning", "tool-call"];

/** The model knows what it said itself, and how long it was. */
function isWorthDetail({ kind, tokens, state }: HeaderBlock): boolean {
  return state !== null || (tokens >= detailTokensMin && !saidByModel.includes(kind));
}

/** `#43 result ~4.2k, #44 ~0.9k until 51; #47 user ~1.1k until 53`: what is the same is said once. */
function detailsText(nonce: string, blocks: readonly HeaderBlock[]): string {
  const least = [...blocks].sort((a, b) => b.tokens - a.tokens)[detailsMax - 1]?.tokens ?? 0;
  const shown = blocks.filter(({ tokens }) => tokens >= least).slice(0, detailsMax);
  return shown
    .map((block, at) => {
      const [before, after] = [shown[at - 1], shown[at + 1]];
      const sign = before === undefined ? "" : endOf(before) === endOf(block) ? ", " : "; ";
      const end = after !== undefined && endOf(after) === endOf(block) ? "" : ` ${endOf(block)}`;
      return `${sign}${detailText(nonce, block, before?.kind ?? null)}${end.trimEnd()}`;
    })
    .join("");
}

function endOf({ state, ttl }: HeaderBlock): string {
  return state ?? (ttl === null ? "" : `until ${ttl.until}`);
}

function detailText(nonce: string, block: HeaderBlock, before: BlockKind | null): string {
  const { kind, name, tokens, exact } = block;
  const called = listed(shortened(safeText(name ?? "", nonce), nameCharsMax));
  const word = kind === before ? "" : kindWord(kind);
  return [`#${block.block}`, word, called, markedSize(tokens, exact)].filter((text) => text !== "").join(" ");
}

function speakerText(text: string, nonce: string): string {
  return shortened(safeText(text, nonce), 40);
}

function wholeSize(tokens: number, exact: boolean): string {
  return `${exact ? "" : "~"}${Math.round(tokens)}`;
}

function stateField(state: HeaderBlock["state"]): readonly string[] {
  return state === null ? [] : [state.toUpperCase()];
}

/** A message is pinned or pruned where all of it is. */
function commonState(blocks: readonly HeaderBlock[]): HeaderBlock["state"] {
  const [first] = blocks;
  return first !== undefined && blocks.every(({ state }) => state === first.state) ? first.state : null;
}
