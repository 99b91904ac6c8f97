import { must } from "../../base/index.ts";
import { emitBody, isClearing, type MarkAt, textBlock, type WireRequest } from "../../protocols/index.ts";
import type { Edit } from "./clearing.ts";
import { unitCount, unitsFrom } from "./client-units.ts";
import { emitSystem, emitTools, type Head } from "./head.ts";
import type { Image } from "./image.ts";
import type { Place } from "./place.ts";
import type { RenderAsked, Rendered } from "./rendering.ts";

type EndOf = (unit: number) => number | null;

/**
 * Where the client's cache marks go, of so many units in all. They are not part of a unit and are placed anew
 * each time.
 */
export function marksOf({ request, style }: RenderAsked, count: number, endOf: EndOf): readonly MarkAt[] {
  const marks = new Map<number, string>();
  const put = (unit: number, mark: string): void => {
    const end = endOf(unit);
    if (end !== null) marks.set(end, mark);
  };
  for (const message of request.marked) {
    const at = count - unitsFrom(request, message);
    const { units } = must(request.messages[message], "a marked message is there");
    for (const [index, { mark }] of units.entries()) if (mark !== null) put(at + index, mark);
  }
  const automatic = style === "managed" ? automaticMark(request) : null;
  if (automatic !== null) put(lastMarkable(request, count), automatic);
  return [...marks].map(([end, mark]) => ({ end, mark }));
}

/** More marks than these are refused. */
const marksMax = 4;

type Anchored = {
  readonly asked: RenderAsked;
  /** What holds the path that is sent. */
  readonly image: Image;
  readonly anchor: Place | null;
};

/** One more mark where there is room for it: what is marked anew with each request stays in the cache. */
export function withAnchor(marks: readonly MarkAt[], { asked, image, anchor }: Anchored): readonly MarkAt[] {
  const { request, style } = asked;
  const [first] = marks;
  const sent = anchor?.sent ?? null;
  if (first === undefined || sent === null || sent.image !== image || isUnmarkable(anchor)) return marks;
  // What is plain has nothing of ours.
  if (style === "plain") return marks;
  const front = [request.tools, request.system].flatMap(({ units }) => units);
  const count = marks.length + front.filter(({ mark }) => mark !== null).length;
  // It must come before all others that are new: a longer lifetime may not follow a shorter one.
  if (count >= marksMax || sent.end >= first.end) return marks;
  return [{ end: sent.end, mark: first.mark }, ...marks];
}

function isUnmarkable(place: Place | null): boolean {
  if (place === null || place.facts.kind === "reasoning" || place.facts.type === "none") return true;
  return isClearing(place.wrapping.head);
}

/** Reasoning and messages without content cannot be marked. */
function lastMarkable({ messages }: WireRequest, count: number): number {
  let at = count;
  for (const group of [...messages].reverse()) {
    at -= unitCount(group);
    const index = group.units.findLastIndex(({ kind }) => kind !== "reasoning");
    if (index !== -1) return at + index;
  }
  return 0;
}

/** Asks the provider to mark whatever comes last, which would be ours. */
function automaticMark({ members, bytes }: WireRequest): string | null {
  const member = members.find(({ key }) => key === "cache_control");
  return member === undefined ? null : bytes.toString("utf8", member.value.start, member.value.end);
}

/** The end of the messages: what is sent once, then the brackets. */
export function closing(dropped: string | null, tail: string): Buffer {
  const last = dropped === null ? [] : [Buffer.from(","), textBlock(dropped)];
  return Buffer.concat([...last, Buffer.from(`${tail}]`)]);
}

/** The whole request, with what the ledger says in place of what the client said. */
export function emitRequest({ asked, head, edit }: Emitting, messages: readonly Uint8Array[]): Emitted {
  const { request, style, answerMax } = asked;
  const replaced = new Map<string, readonly Uint8Array[] | null>([["messages", [OPEN_LIST, ...messages]]]);
  const [tools, system] = [emitTools(head, request), emitSystem(head, request)];
  if (tools !== undefined) replaced.set("tools", tools);
  if (system !== undefined) replaced.set("system", system);
  if (answerMax !== undefined) replaced.set("max_tokens", [Buffer.from(`${answerMax}`)]);
  if (style === "managed" && automaticMark(request) !== null) replaced.set("cache_control", null);
  if (edit !== null) replaced.set("context_management", [Buffer.from(JSON.stringify(edit.field))]);
  const pieces = emitBody(request, replaced);
  return { pieces, length: pieces.reduce((sum, { length }) => sum + length, 0) };
}
type Emitting = {
  readonly asked: RenderAsked;
  readonly head: Head;
  /** What the provider is asked to leave out; null: nothing. */
  readonly edit: Edit | null;
};
type Emitted = Pick<Rendered, "pieces" | "length">;

const OPEN_LIST = Buffer.from("[");
