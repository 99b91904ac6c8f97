import { type JsonMember, membersOf, parseAt, skipSpace, valueRangeAt } from "../json-scan.ts";
import { AnswerRounds, callOwner, isReasoningBlock, type OwnTool } from "./answer-rounds.ts";
import { ClientText } from "./client-text.ts";
import { stringField, type WireFields, wireFields } from "./schema.ts";

/**
 * Hides calls of our tools and command lines from the client, and makes one answer of the rounds between
 * which they are carried out.
 */
export type Interceptor = {
  /** Takes bytes of an answer cut anywhere; returns the bytes that the client gets by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** The round that ended has only commands for us, and waits for their results. */
  readonly isWaitingForUs: () => boolean;
  /** The content that the client has got so far is an answer by itself. */
  readonly mayEndHere: () => boolean;
  /** Begins another round, which continues the same message. */
  readonly beginRound: () => void;
  /** Ends the answer; returns the bytes that were held. */
  readonly end: () => readonly Uint8Array[];
};

/** An incomplete event longer than this is not read any further. */
const restBytesMax = 4 * 1024 * 1024;

/**
 * The text for a client that would get no block, or only reasoning at the end: it could not send such an
 * answer back.
 */
export const noAnswerText = "(no answer)";

/** The nonce marks command lines; null if the model knows of none. */
export function eventInterceptor(isOwn: OwnTool, nonce: string | null = null): Interceptor {
  const interceptor = new EventInterceptor(isOwn, nonce);
  return {
    push: (bytes) => interceptor.push(bytes),
    isWaitingForUs: () => interceptor.isWaitingForUs,
    mayEndHere: () => interceptor.mayEndHere,
    beginRound: () => interceptor.beginRound(),
    end: () => interceptor.end(),
  };
}

/** The open text block. Its events are held until some of the text is shown; then `held` is null. */
type OpenTextBlock = { readonly index: number; readonly filtered: ClientText; held: Buffer[] | null };

class EventInterceptor {
  readonly #isOwn: OwnTool;
  readonly #nonce: string | null;
  #text: OpenTextBlock | null = null;
  readonly #rounds = new AnswerRounds();
  /** The client's index of each block of this round; null if the block is hidden. */
  #indexes = new Map<number, number | null>();
  /** The number of blocks the client has got. */
  #shown = 0;
  /** The last block the client has got is not reasoning. */
  #hasAnswer = false;
  /** The last events of the round, until it is known that no other round follows. */
  #held: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #isLost = false;

  constructor(isOwn: OwnTool, nonce: string | null) {
    this.#isOwn = isOwn;
    this.#nonce = nonce;
  }

  get isWaitingForUs(): boolean {
    return !this.#isLost && this.#rounds.isWaitingForUs && this.#held.some(isStop);
  }

  get mayEndHere(): boolean {
    return !this.#isLost && this.#hasAnswer && this.#held.some(isStop);
  }

  push(input: Uint8Array): readonly Uint8Array[] {
    const fresh = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    if (this.#isLost || (this.#isPlain() && isOneDelta(fresh))) return [fresh];
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const out: Buffer[] = [];
    let start = 0;
    for (let end = eventEnd(bytes, 0); end !== -1; end = eventEnd(bytes, end)) {
      out.push(...this.#addEvent(bytes.subarray(start, end)));
      start = end;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length > restBytesMax) out.push(...this.#passRest());
    return out;
  }

  beginRound(): void {
    this.#rounds.beginRound();
    this.#indexes = new Map();
    this.#text = null;
    this.#held = [];
    this.#rest = Buffer.alloc(0);
  }

  end(): readonly Uint8Array[] {
    const openText = this.#endText();
    const isOver = this.#held.some(isStop);
    const noAnswer = isOver && !this.#hasAnswer ? noAnswerEvents(this.#shown) : [];
    const held = this.#held.map((event) => this.#withTotals(event));
    const rest = this.#rest;
    this.#held = [];
    this.#rest = Buffer.alloc(0);
    return [...openText, ...noAnswer, ...held, rest].filter(({ length }) => length > 0);
  }

  /** Deltas pass unchanged, so that only events that begin or end something have to be read. */
  #isPlain(): boolean {
    if (this.#nonce !== null || this.#rest.length > 0) return false;
    return !this.#rounds.hasEarlier && this.#indexes.size === this.#shown;
  }

  #passRest(): readonly Buffer[] {
    this.#isLost = true;
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return [...this.#endText(), ...this.#held.splice(0), rest];
  }

  #addEvent(event: Buffer): readonly Buffer[] {
    const data = dataIn(event);
    switch (data?.type) {
      case "message_start":
        this.#rounds.noteStartUsage(wireFields(fieldIn(event, data, "message"))?.["usage"]);
        return this.#rounds.hasEarlier ? [] : [event];
      case "content_block_start":
        return this.#beginBlock(event, data);
      case "content_block_delta":
        return this.#isOfText(event, data) ? this.#filterDelta(event, data) : this.#renumber(event, data);
      case "content_block_stop":
        return this.#isOfText(event, data)
          ? [...this.#endText(), ...this.#renumber(event, data)]
          : this.#renumber(event, data);
      case "message_delta":
        this.#rounds.noteUsage(fieldIn(event, data, "usage"), stopIn(event, data));
        return this.#holdEnd(event);
      case "message_stop":
        return this.#holdEnd(event);
      default:
        return [event];
    }
  }

  #beginBlock(event: Buffer, data: EventData): readonly Buffer[] {
    const block = wireFields(fieldIn(event, data, "content_block"));
    const index = indexIn(event, data);
    if (this.#nonce !== null && stringField(block, "type") === "text") {
      this.#indexes.set(index, null);
      this.#text = { index, filtered: new ClientText(this.#nonce), held: [] };
      return this.#beginText(event, data, block ?? {});
    }
    const owner = callOwner(block, this.#isOwn);
    if (owner !== null) this.#rounds.noteCall(owner === "own");
    if (owner === "own") this.#indexes.set(index, null);
    else this.#show(index, !isReasoningBlock(block));
    return this.#renumber(event, data);
  }

  /** Gives the block to the client, under its next index. */
  #show(index: number, isAnswer: boolean): void {
    this.#indexes.set(index, this.#shown);
    this.#shown += 1;
    this.#hasAnswer = isAnswer;
  }

  /** Text in the first event of a block is filtered like the rest. */
  #beginText(event: Buffer, data: EventData, block: WireFields): readonly Buffer[] {
    const text = stringField(block, "text") ?? "";
    if (text === "") return this.#hold(event);
    const start = withMember(event, data, ["content_block", { ...block, text: "" }]);
    return [...this.#hold(start), ...this.#writeText(this.#text?.filtered.push(text) ?? "")];
  }

  #isOfText(event: Buffer, data: EventData): boolean {
    return this.#text !== null && this.#text.index === indexIn(event, data);
  }

  #filterDelta(event: Buffer, data: EventData): readonly Buffer[] {
    const delta = wireFields(fieldIn(event, data, "delta"));
    const text = stringField(delta, "type") === "text_delta" ? stringField(delta, "text") : null;
    if (text === null || text === "") return this.#hold(event);
    const left = this.#text?.filtered.push(text) ?? text;
    if (left !== text) return this.#writeText(left);
    return [...this.#reveal(), ...this.#renumber(event, data)];
  }

  /** Holds an event while nothing of its text is shown. */
  #hold(event: Buffer): readonly Buffer[] {
    const held = this.#text?.held ?? null;
    if (held === null) return this.#renumber(event, dataIn(event));
    held.push(event);
    return [];
  }

  #writeText(text: string): readonly Buffer[] {
    if (text === "" || this.#text === null) return [];
    const { index } = this.#text;
    const before = this.#reveal();
    const delta = { type: "text_delta", text };
    const shown = this.#indexes.get(index) ?? index;
    return [...before, encodeEvent({ type: "content_block_delta", index: shown, delta })];
  }

  /** Gives the client the held events of the open text. */
  #reveal(): readonly Buffer[] {
    if (this.#text === null || this.#text.held === null) return [];
    const { index, held } = this.#text;
    this.#text.held = null;
    this.#show(index, true);
    return held.flatMap((event) => this.#renumber(event, dataIn(event)));
  }

  #endText(): readonly Buffer[] {
    if (this.#text === null) return [];
    const { filtered } = this.#text;
    const rest = this.#writeText(filtered.end());
    const out = filtered.isShown ? [...rest, ...this.#reveal()] : [];
    this.#rounds.noteText(filtered.commands, filtered.isShown);
    this.#text = null;
    return out;
  }

  /** Writes the client's index of the block into the event. */
  #renumber(event: Buffer, data: EventData | null): readonly Buffer[] {
    if (data === null) return [event];
    const index = indexIn(event, data);
    const shown = this.#indexes.get(index);
    if (shown === null) return [];
    return [shown === undefined || shown === index ? event : withMember(event, data, ["index", shown])];
  }

  #holdEnd(event: Buffer): readonly Buffer[] {
    if (!this.#rounds.hasEarlier && !this.#rounds.isFiltered) return [event];
    this.#held.push(event);
    return [];
  }

  /** Writes the stop reason and usage of all rounds into the last event of the answer. */
  #withTotals(event: Buffer): Buffer {
    const data = dataIn(event);
    if (data?.type !== "message_delta") return event;
    const delta = wireFields(fieldIn(event, data, "delta")) ?? {};
    const stop = this.#rounds.stopFor(stringField(delta, "stop_reason"));
    const usage = this.#rounds.usageFor(wireFields(fieldIn(event, data, "usage")) ?? {});
    const stopped = withMember(event, data, ["delta", { ...delta, stop_reason: stop }]);
    return withMember(stopped, dataIn(stopped) ?? data, ["usage", usage]);
  }
}

type EventData = { readonly type: string | null; readonly members: readonly JsonMember[] };

/** The JSON object of an event; null if there is none, or more than one. */
function dataIn(event: Buffer): EventData | null {
  const at = event.subarray(0, 5).toString("latin1") === "data:" ? 0 : event.indexOf("\ndata:") + 1;
  if (at === 0 && event[0] !== 0x64) return null;
  if (event.indexOf("\ndata:", at + 1) !== -1) return null;
  const value = valueRangeAt(event, skipSpace(event, at + "data:".length));
  const members = value === null ? null : membersOf(event, value);
  if (members === null) return null;
  const type = members.find(({ key }) => key === "type");
  const named = type === undefined ? undefined : parseAt(event, type.value);
  return { type: typeof named === "string" ? named : null, members };
}

function fieldIn(event: Buffer, { members }: EventData, name: string): unknown {
  const member = members.find(({ key }) => key === name);
  return member === undefined ? undefined : parseAt(event, member.value);
}

function indexIn(event: Buffer, data: EventData): number {
  const index = fieldIn(event, data, "index");
  return typeof index === "number" ? index : -1;
}

function stopIn(event: Buffer, data: EventData): string | null {
  return stringField(wireFields(fieldIn(event, data, "delta")), "stop_reason");
}

/** The event with another value for one of its fields, and all other bytes unchanged. */
function withMember(
  event: Buffer,
  { members }: EventData,
  [name, value]: readonly [string, unknown],
): Buffer {
  const member = members.find(({ key }) => key === name);
  if (member === undefined) return event;
  const { start, end } = member.value;
  return Buffer.concat([event.subarray(0, start), Buffer.from(JSON.stringify(value)), event.subarray(end)]);
}

function isStop(event: Buffer): boolean {
  return dataIn(event)?.type === "message_stop";
}

function noAnswerEvents(index: number): readonly Buffer[] {
  return [
    encodeEvent({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
    encodeEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text: noAnswerText } }),
    encodeEvent({ type: "content_block_stop", index }),
  ];
}

/** Writes an event of our own in the provider's form. */
export function encodeEvent(data: WireFields & { readonly type: string }): Buffer {
  return Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

const LF = 0x0a;
const CR = 0x0d;

/** The position behind the blank line that ends an event; -1 if there is none. */
function eventEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

const deltaStart = "event: content_block_delta\n";

/** True for one whole delta. Most chunks are one, and need not be read. */
function isOneDelta(bytes: Buffer): boolean {
  const isDelta = bytes.subarray(0, deltaStart.length).toString("latin1") === deltaStart;
  return isDelta && eventEnd(bytes, deltaStart.length) === bytes.length;
}
