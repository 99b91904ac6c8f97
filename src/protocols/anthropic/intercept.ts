import { type Member, membersOf, parseAt, skipSpace, valueAt } from "../json-scan.ts";
import { callIn, isReasoning, type OwnTool, Samplings } from "./samplings.ts";
import { type Fields, fieldsOf, textIn } from "./schema.ts";
import { SiftedText } from "./sifted-text.ts";

/**
 * Hides calls of our tools and command lines from the client, and makes one answer of the samplings between
 * which they are carried out.
 */
export type Interceptor = {
  /** Takes bytes of an answer however they were cut; gives what the client gets by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** Whether the sampling that ended has asked us alone, and waits for the answers. */
  readonly waits: () => boolean;
  /** Whether what the client has been told by then can stand as an answer by itself. */
  readonly says: () => boolean;
  /** Another sampling follows, and goes on with the same message. */
  readonly goOn: () => void;
  /** Nothing follows any more: gives what was held. */
  readonly end: () => readonly Uint8Array[];
};

/** Half an event longer than this is not looked at any further. */
const restBytesMax = 4 * 1024 * 1024;

/**
 * What a client is told where nothing of an answer was for it, or nothing but reasoning at its end: it could
 * not send such an answer back.
 */
export const nothingSaid = "(no answer)";

/** The nonce marks command lines; null: the model knows of none. */
export function eventInterceptor(isOwn: OwnTool, nonce: string | null = null): Interceptor {
  const events = new Events(isOwn, nonce);
  return {
    push: (bytes) => events.push(bytes),
    waits: () => events.waits,
    says: () => events.says,
    goOn: () => events.goOn(),
    end: () => events.end(),
  };
}

/** A text that comes in, as far as the client has not got it: its events until something of it is shown. */
type OpenText = { readonly index: number; readonly sifted: SiftedText; held: Buffer[] | null };

class Events {
  readonly #isOwn: OwnTool;
  readonly #nonce: string | null;
  #text: OpenText | null = null;
  readonly #samplings = new Samplings();
  /** Which block each of the client's is, of the sampling that comes in; null: it is hidden. */
  #indexes = new Map<number, number | null>();
  /** How many blocks the client has got. */
  #shown = 0;
  /** Whether the last of them says or asks for something. */
  #isSaid = false;
  /** The end of the message, until it is known that it is one. */
  #held: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #isLost = false;

  constructor(isOwn: OwnTool, nonce: string | null) {
    this.#isOwn = isOwn;
    this.#nonce = nonce;
  }

  get waits(): boolean {
    return !this.#isLost && this.#samplings.waits && this.#held.some(isStop);
  }

  get says(): boolean {
    return !this.#isLost && this.#isSaid && this.#held.some(isStop);
  }

  push(given: Uint8Array): readonly Uint8Array[] {
    const fresh = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    if (this.#isLost || (this.#isPlain() && isOneDelta(fresh))) return [fresh];
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const out: Buffer[] = [];
    let start = 0;
    for (let end = eventEnd(bytes, 0); end !== -1; end = eventEnd(bytes, end)) {
      out.push(...this.#take(bytes.subarray(start, end)));
      start = end;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length > restBytesMax) out.push(...this.#lose());
    return out;
  }

  goOn(): void {
    this.#samplings.next();
    this.#indexes = new Map();
    this.#text = null;
    this.#held = [];
    this.#rest = Buffer.alloc(0);
  }

  end(): readonly Uint8Array[] {
    const broken = this.#endText();
    const isOver = this.#held.some(isStop);
    const said = isOver && !this.#isSaid ? sayNothing(this.#shown) : [];
    const held = this.#held.map((event) => this.#asEnd(event));
    const rest = this.#rest;
    this.#held = [];
    this.#rest = Buffer.alloc(0);
    return [...broken, ...said, ...held, rest].filter(({ length }) => length > 0);
  }

  /** Whether events pass as they are, so that only those have to be read that begin or end something. */
  #isPlain(): boolean {
    if (this.#nonce !== null || this.#rest.length > 0) return false;
    return !this.#samplings.goesOn && this.#indexes.size === this.#shown;
  }

  #lose(): readonly Buffer[] {
    this.#isLost = true;
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return [...this.#endText(), ...this.#held.splice(0), rest];
  }

  #take(event: Buffer): readonly Buffer[] {
    const data = dataIn(event);
    switch (data?.type) {
      case "message_start":
        this.#samplings.begin(fieldsOf(fieldIn(event, data, "message"))?.["usage"]);
        return this.#samplings.goesOn ? [] : [event];
      case "content_block_start":
        return this.#begin(event, data);
      case "content_block_delta":
        return this.#isOfText(event, data) ? this.#sift(event, data) : this.#moved(event, data);
      case "content_block_stop":
        return this.#isOfText(event, data)
          ? [...this.#endText(), ...this.#moved(event, data)]
          : this.#moved(event, data);
      case "message_delta":
        this.#samplings.note(fieldIn(event, data, "usage"), stopIn(event, data));
        return this.#heldBack(event);
      case "message_stop":
        return this.#heldBack(event);
      default:
        return [event];
    }
  }

  #begin(event: Buffer, data: EventData): readonly Buffer[] {
    const block = fieldsOf(fieldIn(event, data, "content_block"));
    const index = indexIn(event, data);
    if (this.#nonce !== null && textIn(block, "type") === "text") {
      this.#indexes.set(index, null);
      this.#text = { index, sifted: new SiftedText(this.#nonce), held: [] };
      return this.#beginText(event, data, block ?? {});
    }
    const call = callIn(block, this.#isOwn);
    if (call !== null) this.#samplings.called(call === "own");
    if (call === "own") this.#indexes.set(index, null);
    else this.#show(index, !isReasoning(block));
    return this.#moved(event, data);
  }

  /** The client gets this block. */
  #show(index: number, isSaid: boolean): void {
    this.#indexes.set(index, this.#shown);
    this.#shown += 1;
    this.#isSaid = isSaid;
  }

  /** What a text begins with is sifted like the rest of it. */
  #beginText(event: Buffer, data: EventData, block: Fields): readonly Buffer[] {
    const words = textIn(block, "text") ?? "";
    if (words === "") return this.#hold(event);
    const start = withMember(event, data, ["content_block", { ...block, text: "" }]);
    return [...this.#hold(start), ...this.#say(this.#text?.sifted.push(words) ?? "")];
  }

  #isOfText(event: Buffer, data: EventData): boolean {
    return this.#text !== null && this.#text.index === indexIn(event, data);
  }

  #sift(event: Buffer, data: EventData): readonly Buffer[] {
    const delta = fieldsOf(fieldIn(event, data, "delta"));
    const words = textIn(delta, "type") === "text_delta" ? textIn(delta, "text") : null;
    if (words === null || words === "") return this.#hold(event);
    const left = this.#text?.sifted.push(words) ?? words;
    if (left !== words) return this.#say(left);
    return [...this.#reveal(), ...this.#moved(event, data)];
  }

  /** Holds an event of a text of which nothing is shown yet. */
  #hold(event: Buffer): readonly Buffer[] {
    const held = this.#text?.held ?? null;
    if (held === null) return this.#moved(event, dataIn(event));
    held.push(event);
    return [];
  }

  #say(words: string): readonly Buffer[] {
    if (words === "" || this.#text === null) return [];
    const { index } = this.#text;
    const before = this.#reveal();
    const delta = { type: "text_delta", text: words };
    const shown = this.#indexes.get(index) ?? index;
    return [...before, wireEvent({ type: "content_block_delta", index: shown, delta })];
  }

  /** The client gets the text, from its beginning. */
  #reveal(): readonly Buffer[] {
    if (this.#text === null || this.#text.held === null) return [];
    const { index, held } = this.#text;
    this.#text.held = null;
    this.#show(index, true);
    return held.flatMap((event) => this.#moved(event, dataIn(event)));
  }

  #endText(): readonly Buffer[] {
    if (this.#text === null) return [];
    const { sifted } = this.#text;
    const said = this.#say(sifted.end());
    const out = sifted.isShown ? [...said, ...this.#reveal()] : [];
    this.#samplings.spoke(sifted.commands, sifted.isShown);
    this.#text = null;
    return out;
  }

  /** The event with the number its block has for the client. */
  #moved(event: Buffer, data: EventData | null): readonly Buffer[] {
    if (data === null) return [event];
    const index = indexIn(event, data);
    const shown = this.#indexes.get(index);
    if (shown === null) return [];
    return [shown === undefined || shown === index ? event : withMember(event, data, ["index", shown])];
  }

  #heldBack(event: Buffer): readonly Buffer[] {
    if (!this.#samplings.goesOn && !this.#samplings.hides) return [event];
    this.#held.push(event);
    return [];
  }

  /** The end of the last sampling, as that of all. */
  #asEnd(event: Buffer): Buffer {
    const data = dataIn(event);
    if (data?.type !== "message_delta") return event;
    const delta = fieldsOf(fieldIn(event, data, "delta")) ?? {};
    const stop = this.#samplings.stopFor(textIn(delta, "stop_reason"));
    const usage = this.#samplings.usageFor(fieldsOf(fieldIn(event, data, "usage")) ?? {});
    const other = withMember(event, data, ["delta", { ...delta, stop_reason: stop }]);
    return withMember(other, dataIn(other) ?? data, ["usage", usage]);
  }
}

type EventData = { readonly type: string | null; readonly members: readonly Member[] };

/** The one object an event is about; null where there is none, or more than one. */
function dataIn(event: Buffer): EventData | null {
  const at = event.subarray(0, 5).toString("latin1") === "data:" ? 0 : event.indexOf("\ndata:") + 1;
  if (at === 0 && event[0] !== 0x64) return null;
  if (event.indexOf("\ndata:", at + 1) !== -1) return null;
  const value = valueAt(event, skipSpace(event, at + "data:".length));
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
  return textIn(fieldsOf(fieldIn(event, data, "delta")), "stop_reason");
}

/** The event with another value for one of its fields, and all else as it was written. */
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

function sayNothing(index: number): readonly Buffer[] {
  return [
    wireEvent({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
    wireEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text: nothingSaid } }),
    wireEvent({ type: "content_block_stop", index }),
  ];
}

/** An event of our own, as the provider would write it. */
export function wireEvent(data: Fields & { readonly type: string }): Buffer {
  return Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

const LF = 0x0a;
const CR = 0x0d;

/** Behind the blank line that ends an event; -1 where none does. */
function eventEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

const deltaStart = "event: content_block_delta\n";

/** Whether these bytes are one whole delta: most are, and nothing is to be read in them. */
function isOneDelta(bytes: Buffer): boolean {
  const isDelta = bytes.subarray(0, deltaStart.length).toString("latin1") === deltaStart;
  return isDelta && eventEnd(bytes, deltaStart.length) === bytes.length;
}
