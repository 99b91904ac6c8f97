import { type JsonMember, membersOf, parseAt, skipSpace, valueRangeAt } from "../json-scan.ts";
import { deltaText, type EventChunk, type PlainDelta } from "./answer-event.ts";
import { AnswerRounds, callOwner, isReasoningBlock, type OwnTool } from "./answer-rounds.ts";
import { ClientText } from "./client-text.ts";
import { encodeEvent } from "./refusals.ts";
import { stringField, type WireFields, wireFields } from "./schema.ts";

/**
 * The text for a client that would get no block, or only reasoning at the end: it could not send such an
 * answer back.
 */
export const noAnswerText = "(no answer)";

/** The open text block. Its events are held until some of the text is shown; then `held` is null. */
type OpenTextBlock = { readonly index: number; readonly filtered: ClientText; held: Buffer[] | null };

/**
 * Hides calls of our tools and command lines in the events of an answer, and makes one answer of the rounds
 * between which they are carried out.
 */
export class CallHider {
  readonly #isOwn: OwnTool;
  /** Marks command lines; null if the model knows of none. */
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

  constructor(isOwn: OwnTool, nonce: string | null) {
    this.#isOwn = isOwn;
    this.#nonce = nonce;
  }

  /** Deltas pass unchanged: only events that begin or end something matter. */
  get passesDeltas(): boolean {
    return this.#nonce === null && !this.#rounds.hasEarlier && this.#indexes.size === this.#shown;
  }

  /** The round that ended has only commands for us, and waits for their results. */
  get isWaitingForUs(): boolean {
    return this.#rounds.isWaitingForUs && this.#held.some(isStop);
  }

  /** The content that the client has got so far is an answer by itself. */
  get mayEndHere(): boolean {
    return this.#hasAnswer && this.#held.some(isStop);
  }

  beginRound(): void {
    this.#rounds.beginRound();
    this.#indexes = new Map();
    this.#text = null;
    this.#held = [];
  }

  /** Takes the next event; returns the events that the client gets by now. */
  add(chunk: EventChunk, delta: PlainDelta | null): readonly Buffer[] {
    const event = chunk.bytes.subarray(chunk.start, chunk.end);
    if (delta !== null) {
      const text = this.#text?.index === delta.index && isText(delta) ? deltaText(chunk, delta) : null;
      if (text !== null) return this.#filterDelta(event, text);
      if (this.#text?.index !== delta.index) return this.#renumber(event, delta.index);
    }
    return this.#addParsed(event);
  }

  /** Ends the answer; returns the events that were held. */
  end(): readonly Buffer[] {
    const openText = this.#endText();
    const isOver = this.#held.some(isStop);
    const noAnswer = isOver && !this.#hasAnswer ? noAnswerEvents(this.#shown) : [];
    const held = this.#held.map((event) => this.#withTotals(event));
    this.#held = [];
    return [...openText, ...noAnswer, ...held];
  }

  /** Gives up hiding: returns everything that is held as it is. */
  releaseAll(): readonly Buffer[] {
    return [...this.#endText(), ...this.#held.splice(0)];
  }

  #addParsed(event: Buffer): readonly Buffer[] {
    const data = dataIn(event);
    const index = data === null ? -1 : indexIn(event, data);
    switch (data?.type) {
      case "message_start":
        this.#rounds.noteStartUsage(wireFields(fieldIn(event, data, "message"))?.["usage"]);
        return this.#rounds.hasEarlier ? [] : [event];
      case "content_block_start":
        return this.#beginBlock(event, data);
      case "content_block_delta":
        return this.#text?.index === index
          ? this.#filterDelta(event, textIn(event, data))
          : this.#renumber(event, index);
      case "content_block_stop":
        return this.#text?.index === index
          ? [...this.#endText(), ...this.#renumber(event, index)]
          : this.#renumber(event, index);
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
    return this.#renumber(event, index);
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

  /** Filters a delta of the open text; `text` is null if the delta has none. */
  #filterDelta(event: Buffer, text: string | null): readonly Buffer[] {
    if (text === null || text === "") return this.#hold(event);
    const left = this.#text?.filtered.push(text) ?? text;
    if (left !== text) return this.#writeText(left);
    const revealed = this.#reveal();
    return [...revealed, ...this.#renumber(event, this.#text?.index ?? -1)];
  }

  /** Holds an event while nothing of its text is shown. */
  #hold(event: Buffer): readonly Buffer[] {
    if (this.#text === null || this.#text.held === null)
      return this.#renumber(event, this.#text?.index ?? -1);
    this.#text.held.push(event);
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
    return held.flatMap((event) => this.#renumber(event, index));
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

  /** Writes the client's index of the block into an event that has this index. */
  #renumber(event: Buffer, index: number): readonly Buffer[] {
    const shown = this.#indexes.get(index);
    if (shown === null) return [];
    if (shown === undefined || shown === index) return [event];
    const data = dataIn(event);
    return [data === null ? event : withMember(event, data, ["index", shown])];
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

function isText({ type, field }: PlainDelta): boolean {
  return type === "text_delta" && field === "text";
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

function textIn(event: Buffer, data: EventData): string | null {
  const delta = wireFields(fieldIn(event, data, "delta"));
  return stringField(delta, "type") === "text_delta" ? stringField(delta, "text") : null;
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
