import type { InterceptOptions, Interceptor } from "../protocol.ts";
import { AnswerReader } from "./answer.ts";
import { eventEnd, isOneDelta, otherEvent, readPlainDelta, readTextEvent } from "./answer-event.ts";
import { ClientBytes } from "./client-bytes.ts";
import { CallHider } from "./hide-calls.ts";
import { MessageInterceptor } from "./intercept-message.ts";
import { EventStripper } from "./strip-events.ts";
import type { StripChunk } from "./strip-lines.ts";

/** Null for an answer in a form that is not read. */
export function interceptAnswer(contentType: string, options: InterceptOptions): Interceptor | null {
  if (contentType.includes("text/event-stream")) return new EventInterceptor(options).port();
  return contentType.includes("json") ? new MessageInterceptor(options).port() : null;
}

/** An incomplete event longer than this is not read any further: it passes as it comes. */
const restBytesMax = 64 * 1024;
/** The same if events may have to be hidden. */
const hiddenBytesMax = 4 * 1024 * 1024;

const BACKSLASH = 0x5c;

/** Intercepts an answer in server-sent events. */
class EventInterceptor {
  readonly #options: InterceptOptions;
  readonly #hider: CallHider | null;
  #stripper: EventStripper | null;
  #reader: AnswerReader | null = new AnswerReader();
  /** The bytes of this round. */
  #length = 0;
  /** The beginning of the next event, and the number of its bytes that have passed. */
  #rest: Buffer = Buffer.alloc(0);
  #passed = 0;
  /** The reader has got that beginning, because it was too long to be kept or the round has ended. */
  #isRestRead = false;
  /** Nothing is hidden any more, because an event was too long. */
  #isLost = false;

  constructor(options: InterceptOptions) {
    const { ownLines, isOwnTool, commandNonce } = options;
    const mayHide = isOwnTool !== null || commandNonce !== null;
    this.#options = options;
    this.#hider = mayHide ? new CallHider(isOwnTool ?? (() => false), commandNonce) : null;
    this.#stripper = ownLines === null ? null : new EventStripper(ownLines);
  }

  port(): Interceptor {
    return {
      push: (bytes) => this.push(bytes),
      hasStopped: () => this.#reader?.hasStopped === true,
      answer: () => this.#reader?.finish(!this.#isRestRead && this.#rest.length > 0) ?? null,
      endRound: () => this.endRound(),
      isWaitingForUs: () => !this.#isLost && this.#hider?.isWaitingForUs === true,
      mayEndHere: () => !this.#isLost && this.#hider?.mayEndHere === true,
      beginRound: () => this.beginRound(),
      end: () => this.end(),
    };
  }

  push(input: Uint8Array): readonly Uint8Array[] {
    const fresh = Buffer.isBuffer(input)
      ? input
      : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    this.#length += fresh.length;
    if (this.#length > this.#options.bytesMax) this.#reader = null;
    if (this.#isLost) {
      this.#reader?.addBytes(fresh);
      return [fresh];
    }
    if (this.#passesDelta(fresh)) {
      const chunk = { bytes: fresh, text: fresh.toString("latin1"), start: 0, end: fresh.length };
      this.#reader?.addChunk(chunk, readPlainDelta(chunk));
      return [fresh];
    }
    return this.#pushEvents(fresh);
  }

  beginRound(): void {
    const { ownLines } = this.#options;
    this.#hider?.beginRound();
    this.#stripper = ownLines === null ? null : new EventStripper(ownLines);
    this.#reader = new AnswerReader();
    this.#length = 0;
    this.#rest = Buffer.alloc(0);
    this.#passed = 0;
    this.#isRestRead = false;
  }

  endRound(): readonly Uint8Array[] {
    const out = new ClientBytes();
    if (!this.#isRestRead) this.#reader?.addBytes(this.#rest);
    this.#isRestRead = true;
    for (const chunk of this.#stripper?.releaseAll() ?? []) this.#pass(chunk, out);
    // With a hider the rest is held: it is dropped if another round follows.
    if (this.#hider === null) this.#passRest(out);
    return out.take();
  }

  end(): readonly Uint8Array[] {
    const out = new ClientBytes();
    for (const piece of this.endRound()) out.add(piece);
    for (const event of this.#hider?.end() ?? []) out.add(event);
    this.#passRest(out);
    return out.take();
  }

  /** The bytes are one whole delta, and neither a line of ours nor a hidden block can be in it. */
  #passesDelta(bytes: Buffer): boolean {
    if (this.#rest.length > 0 || !isOneDelta(bytes) || this.#hider?.passesDeltas === false) return false;
    return this.#stripper === null || (this.#stripper.isQuiet && bytes.indexOf(BACKSLASH) === -1);
  }

  #pushEvents(fresh: Buffer): readonly Uint8Array[] {
    const known = this.#rest.length;
    const bytes = known === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const out = new ClientBytes();
    // The blank line that ends an event may lie on both sides of a cut.
    let end = eventEnd(bytes, Math.max(0, known - 2));
    const text = end === -1 && this.#hider !== null ? "" : bytes.toString("latin1");
    let [start, sent] = [0, this.#passed];
    for (; end !== -1; end = eventEnd(bytes, end)) {
      const event = { bytes, text, start, end };
      const delta = this.#isRestRead ? null : readPlainDelta(event);
      this.#addEvent({ ...event, delta, sent, cuts: [] }, known, out);
      start = end;
      sent = end;
    }
    this.#keepRest({ bytes, text, start, end: bytes.length, delta: null, sent, cuts: [] }, known, out);
    return out.take();
  }

  /** `known` bytes at the start were there before, and were read if the rest was lost. */
  #addEvent(chunk: StripChunk, known: number, out: ClientBytes): void {
    const isLost = this.#isRestRead;
    this.#isRestRead = false;
    if (isLost) this.#reader?.addBytes(chunk.bytes.subarray(known, chunk.end));
    else this.#reader?.addChunk(chunk, chunk.delta);
    if (this.#stripper === null) this.#pass(chunk, out);
    else {
      const event = isLost ? otherEvent : readTextEvent(chunk, chunk.delta);
      for (const decided of this.#stripper.add(chunk, event)) this.#pass(decided, out);
    }
  }

  #pass(chunk: StripChunk, out: ClientBytes): void {
    if (this.#hider === null) {
      out.addChunk(chunk);
      return;
    }
    const whole = chunk.cuts.length === 0 ? chunk : withoutCuts(chunk);
    for (const event of this.#hider.add(whole, whole.delta)) out.add(event);
  }

  /** The beginning of the next event passes too, unless it may be hidden or hold a line of ours. */
  #keepRest(chunk: StripChunk, known: number, out: ClientBytes): void {
    const { bytes, text, start, end } = chunk;
    if (this.#hider !== null) {
      this.#rest = bytes.subarray(start);
      if (this.#rest.length > hiddenBytesMax) this.#giveUp(out);
      return;
    }
    const isLong = end - start > restBytesMax;
    if (this.#isRestRead) this.#reader?.addBytes(bytes.subarray(known));
    else if (isLong) this.#reader?.addBytes(bytes.subarray(start));
    this.#isRestRead ||= isLong;
    if (isLong) for (const held of this.#stripper?.releaseAll() ?? []) out.addChunk(held);
    const passes = this.#isRestRead || (this.#stripper?.mayPass(text.slice(start)) ?? true);
    if (passes) out.addChunk(chunk);
    this.#rest = this.#isRestRead ? bytes.subarray(-2) : bytes.subarray(start);
    this.#passed = (passes ? end : chunk.sent) - (end - this.#rest.length);
  }

  /** An event is too long to be held: it passes, and so does everything behind it. */
  #giveUp(out: ClientBytes): void {
    this.#isLost = true;
    for (const chunk of this.#stripper?.releaseAll() ?? []) this.#pass(chunk, out);
    for (const event of this.#hider?.releaseAll() ?? []) out.add(event);
    this.#reader?.addBytes(this.#rest);
    this.#passRest(out);
  }

  #passRest(out: ClientBytes): void {
    out.add(this.#rest.subarray(this.#passed));
    this.#passed = this.#rest.length;
    if (this.#isLost) this.#rest = Buffer.alloc(0);
  }
}

function withoutCuts(chunk: StripChunk): StripChunk {
  const left = new ClientBytes();
  left.addChunk(chunk);
  const bytes = Buffer.concat(left.take());
  const event = { bytes, text: bytes.toString("latin1"), start: 0, end: bytes.length };
  return { ...event, delta: readPlainDelta(event), sent: 0, cuts: [] };
}
