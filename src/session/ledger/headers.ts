import { hashContent, must } from "../../base/index.ts";
import { resultWithText } from "../../protocols/index.ts";
import {
  compactHeader,
  type HeaderBlock,
  type HeaderMessage,
  messageHeader,
  partHeader,
  type TurnHeader,
} from "../../render/index.ts";
import type { Numbered } from "../desk-port.ts";
import { type Item, ownItem } from "./draft.ts";
import type { Place, Wrapping } from "./place.ts";
import type { Saying } from "./saying.ts";

/** A turn's header before it is known where it stands. */
export type HeaderAsked = {
  readonly saying: Saying;
  readonly nonce: string;
  readonly turn: number;
  /** When the turn before was; null: there was none. */
  readonly lastMs: number | null;
  /** Blocks that were sent before and not announced yet. */
  readonly before: readonly Numbered[];
  /** Lines of memories that are not in sight. */
  readonly memories: readonly string[];
};

/** So many tokens may come before the next line is written. */
const everyTokens = 14_000;
const gapMs = 5 * 60_000;

/** The blocks on the way to a place whose numbers the model has not been told. */
export function unannounced(end: Place): readonly Numbered[] {
  const found: Numbered[] = [];
  for (let at: Place | null = end; at !== null && !at.isAnnounced; at = at.parent) {
    if (at.numbered !== null) found.push(at.numbered);
  }
  return found.reverse();
}

/** A new header tells the numbers of all that is sent with it. What is shown anew was announced or not. */
export function noteAnnounced(items: readonly Item[], places: readonly Place[]): void {
  const isHeaded = items.some(({ isHeader, from }) => isHeader && from === null);
  for (const [at, place] of places.entries())
    place.isAnnounced ||= isHeaded || items[at]?.from?.isAnnounced === true;
}

/** What is new, with a header where the user's side speaks last. The model's own words never get one. */
export function withHeaders(asked: HeaderAsked, items: readonly Item[]): readonly Item[] {
  const span = lastUserSpan(items);
  const { headers } = asked.saying;
  const { memories } = asked;
  if (span === null) return items;
  if (headers === "off")
    return memories.length === 0 ? items : withText(items, span, ownTexts(memories.join("\n")));
  if (headers === "full") return fullHeaders(asked, items, span);
  const header = headerOf(asked, items);
  const isSaid = memories.length > 0 || isWorthALine(header);
  return isSaid ? withLine(items, span, [compactHeader(header), ...memories].join("\n")) : items;
}

/** Where the last message of the user's side lies among the items. */
export type Span = { readonly first: number; readonly last: number };

export function lastUserSpan(items: readonly Item[]): Span | null {
  const last = items.findLastIndex(({ wrapping }) => wrapping.role === "user");
  if (last === -1) return null;
  let first = last;
  while (first > 0 && items[first]?.opens === false) first -= 1;
  return { first, last };
}

function headerOf({ saying, nonce, turn, lastMs, before }: HeaderAsked, items: readonly Item[]): TurnHeader {
  const { timeMs, zoneMinutes, names } = saying;
  const fresh = items.flatMap(({ numbered }) => (numbered === null ? [] : [numbered]));
  const sinceMs = lastMs === null ? null : Math.max(0, timeMs - lastMs);
  const saysDate = lastMs === null || dayOf(lastMs, zoneMinutes) !== dayOf(timeMs, zoneMinutes);
  const messages = messagesOf([...before, ...fresh], turn);
  return { nonce, turn, timeMs, zoneMinutes, sinceMs, saysDate, messages, names };
}

function dayOf(timeMs: number, zoneMinutes: number): number {
  return Math.floor((timeMs + zoneMinutes * 60_000) / 86_400_000);
}

/** A line is written when the user speaks, when much has come, and after a while. */
function isWorthALine({ sinceMs, messages }: TurnHeader): boolean {
  if (sinceMs === null || sinceMs >= gapMs) return true;
  const blocks = messages.flatMap((message) => message.blocks);
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  return tokens >= everyTokens || blocks.some(({ kind }) => kind === "user");
}

/** In the order they came, the blocks of one message together. */
export function messagesOf(blocks: readonly Numbered[], turn: number): readonly HeaderMessage[] {
  const messages = new Map<number, HeaderBlock[]>();
  for (const numbered of blocks) {
    const of = messages.get(numbered.message) ?? [];
    messages.set(numbered.message, of);
    of.push(headerBlock(numbered, turn));
  }
  return [...messages].map(([message, of]) => ({ message, ...speakerOf(of), blocks: of }));
}

function headerBlock({ block, kind, tokens, ttl }: Numbered, turn: number): HeaderBlock {
  const until = ttl === null ? null : { turns: Math.max(0, ttl.at - turn), until: ttl.at };
  return { block, kind, tokens, exact: false, ttl: until, state: null };
}

const saidByModel: readonly string[] = ["assistant", "reasoning", "tool-call"];

function speakerOf([first]: readonly HeaderBlock[]): Pick<HeaderMessage, "role" | "from"> {
  const kind = first?.kind ?? "";
  if (saidByModel.includes(kind)) return { role: "assistant", from: "model" };
  return { role: kind === "system" ? "system" : "user", from: "client" };
}

/**
 * The line stands in front of what the user says. Nothing may stand before tool results, so there it stands
 * behind them.
 */
export function withLine(items: readonly Item[], span: Span, text: string): readonly Item[] {
  return withText(items, span, (wrapping, opens) => headerItem(text, wrapping, opens));
}

type Written = (wrapping: Wrapping, opens: boolean) => Item;

function ownTexts(text: string): Written {
  return (wrapping, opens) => ownItem(text, wrapping, opens);
}

function withText(items: readonly Item[], { first, last }: Span, written: Written): readonly Item[] {
  const spoken = items.findIndex(
    ({ facts }, at) => at >= first && at <= last && facts.type !== "tool_result",
  );
  const before = items[spoken];
  if (before === undefined) {
    const { wrapping } = must(items[last], "a span lies among the items");
    return [...items.slice(0, last + 1), written(wrapping, false), ...items.slice(last + 1)];
  }
  const own = written(before.wrapping, before.opens);
  return [...items.slice(0, spoken), own, { ...before, opens: false }, ...items.slice(spoken + 1)];
}

function headerItem(text: string, wrapping: Wrapping, opens: boolean): Item {
  return { ...ownItem(text, wrapping, opens), isHeader: true };
}

/** Each part has its header in front of it, inside it where nothing may stand in front. */
function fullHeaders(asked: HeaderAsked, items: readonly Item[], { first, last }: Span): readonly Item[] {
  const header = headerOf(asked, items);
  const own = new Set(items.slice(first, last + 1).map(({ numbered }) => numbered?.message));
  const earlier = header.messages.filter(({ message }) => !own.has(message));
  const before = earlier.flatMap((message) => [
    messageHeader(header, message),
    ...message.blocks.map((block) => partHeader(header, block)),
  ]);
  const spoken = header.messages.filter(({ message }) => own.has(message));
  let lines = [...asked.memories, ...before, ...spoken.map((message) => messageHeader(header, message))];
  const headed = items.slice(first, last + 1).flatMap((item) => {
    const { numbered } = item;
    const part = numbered === null ? [] : [partHeader(header, headerBlock(numbered, header.turn))];
    const text = [...lines, ...part].join("\n");
    lines = [];
    return text === "" ? [item] : headedItem(item, text);
  });
  return [...items.slice(0, first), ...headed, ...items.slice(last + 1)];
}

function headedItem(item: Item, text: string): readonly Item[] {
  if (item.facts.type !== "tool_result")
    return [headerItem(text, item.wrapping, item.opens), { ...item, opens: false }];
  const bytes = resultWithText(item.bytes, text);
  if (bytes === null) return [item];
  const original = item.original ?? Uint8Array.from(item.bytes);
  return [{ ...item, bytes, hash: hashContent(bytes), isRewritten: true, original, isHeader: true }];
}
