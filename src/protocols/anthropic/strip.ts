import type { ByteRange } from "../json-scan.ts";
import { contentRanges, otherEvent, readStripEvent, textRange } from "./strip-event.ts";
import { OwnLineCutter, type OwnLineRules, type StripChunk } from "./strip-lines.ts";

/** Takes our notes out of an answer on its way to the client. */
export type Stripper = {
  /** Takes bytes cut anywhere; returns those that may pass by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** Ends the answer; returns the bytes that were held. */
  readonly end: () => readonly Uint8Array[];
};

/** An incomplete event longer than this is not read any further. */
const restBytesMax = 64 * 1024;

/** One of our lines does not take more events than this, unless most of them are empty. */
const heldEventsMax = 4_096;

/**
 * Strips server-sent events. It takes our lines out anywhere in a text, in code too: they carry a nonce that
 * content cannot guess, and the ledger, which compares the client's copy with the model's answer, does not
 * distinguish code. Reasoning is bound by signatures and the client parses a tool's input: those stay.
 *
 * Bytes pass as they come. Events are held only from the point where a line begins like one of ours, until
 * the line is decided. Held events pass unchanged; the bytes of our lines are cut out of their texts, and
 * nothing else changes: no event is added, none is dropped. The line behind one of ours may continue it, as
 * the rows of a manifest do: it is held until its first word decides that.
 */
export function eventStripper(rules: OwnLineRules): Stripper {
  const events = new EventStripper(rules);
  return { push: (bytes) => events.push(bytes), end: () => events.end() };
}

/** Strips an answer that is one JSON message. It passes when it is whole, or too large to be read. */
export function messageStripper(rules: OwnLineRules, bytesMax: number): Stripper {
  let held: Uint8Array[] | null = [];
  let length = 0;
  return {
    push: (bytes) => {
      if (held === null) return [bytes];
      held.push(bytes);
      length += bytes.length;
      if (length <= bytesMax) return [];
      const all = held;
      held = null;
      return all;
    },
    end: () => (held === null || length === 0 ? [] : stripMessage(Buffer.concat(held), rules)),
  };
}

class EventStripper {
  readonly #cutter: OwnLineCutter;
  /** The index of the content block whose text is open. */
  #index = -1;
  /** Whole events that are held. */
  #held: StripChunk[] = [];
  /** Pings in a row. */
  #pings = 0;
  /** The beginning of the next event, and the number of its bytes that have passed. */
  #rest: Buffer = Buffer.alloc(0);
  #passed = 0;
  /** The beginning of that event was too long to be kept. */
  #isLost = false;

  constructor(rules: OwnLineRules) {
    this.#cutter = new OwnLineCutter(rules);
  }

  push(input: Uint8Array): readonly Uint8Array[] {
    const fresh = Buffer.isBuffer(input)
      ? input
      : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    if (this.#isIdle() && isDeltaWithoutEscapes(fresh)) return [fresh];
    const known = this.#rest.length;
    const bytes = known === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const text = bytes.toString("latin1");
    const out = new OutputSlices();
    let [start, sent] = [0, this.#passed];
    // The blank line that ends an event may lie on both sides of a cut.
    for (let end = eventEnd(text, known - 2); end !== null; end = eventEnd(text, end)) {
      this.#addEvent({ bytes, text, start, end, sent, cuts: [] });
      if (this.#held.length > 0) this.#release(out);
      start = end;
      sent = end;
    }
    this.#keepRest({ bytes, text, start, end: bytes.length, sent, cuts: [] }, out);
    return out.close();
  }

  end(): readonly Uint8Array[] {
    const out = new OutputSlices();
    this.#cutter.releaseAll();
    this.#release(out);
    out.add(this.#rest, { start: this.#passed, end: this.#rest.length });
    this.#passed = this.#rest.length;
    return out.close();
  }

  #addEvent(chunk: StripChunk): void {
    const event = this.#isLost ? otherEvent : readStripEvent(chunk);
    this.#isLost = false;
    switch (event.kind) {
      case "text":
        if (event.isStart) this.#cutter.beginText();
        else if (event.index !== this.#index) this.#cutter.releaseAll();
        this.#index = event.index;
        this.#pings = 0;
        this.#cutter.addText(chunk, event);
        if (this.#held.length >= heldEventsMax) this.#releaseOpen();
        break;
      case "stop":
        if (event.index === this.#index) this.#cutter.endText();
        break;
      case "ping":
        // A second ping releases held events: the client must not wait longer for a sign of life than we do.
        this.#pings += 1;
        if (this.#pings > 1) this.#releaseOpen();
        break;
      case "other":
        this.#releaseOpen();
    }
    this.#held.push(chunk);
  }

  /** Only a line end could matter: nothing is held, and the open line is not ours. */
  #isIdle(): boolean {
    return this.#rest.length === 0 && this.#held.length === 0 && this.#cutter.isQuiet;
  }

  #releaseOpen(): void {
    if (this.#cutter.firstOpenChunk !== null) this.#cutter.releaseAll();
  }

  #release(out: OutputSlices): void {
    const { firstOpenChunk } = this.#cutter;
    const firstHeld = firstOpenChunk === null ? -1 : this.#held.indexOf(firstOpenChunk);
    const decided = firstHeld === -1 ? this.#held : this.#held.slice(0, firstHeld);
    if (decided.length === 0) return;
    for (const chunk of decided) out.addChunk(chunk);
    this.#held = firstHeld === -1 ? [] : this.#held.slice(firstHeld);
  }

  /** The beginning of the next event passes too, unless one of our lines may begin in it. */
  #keepRest(chunk: StripChunk, out: OutputSlices): void {
    const { bytes, text, start, end } = chunk;
    if (end - start > restBytesMax) {
      this.#isLost = true;
      this.#cutter.releaseAll();
      this.#release(out);
    }
    const passes = this.#isLost || (this.#held.length === 0 && !this.#mayBegin(text.slice(start)));
    if (passes) out.addChunk(chunk);
    this.#rest = this.#isLost ? bytes.subarray(-2) : bytes.subarray(start);
    const sent = passes ? end : chunk.sent;
    this.#passed = sent - (end - this.#rest.length);
  }

  #mayBegin(rest: string): boolean {
    const { isAtStart, followsOwnLine } = this.#cutter;
    const beginning = isAtStart ? (followsOwnLine ? nextLine : firstOrLaterLine) : laterLine;
    return beginning.test(rest) && !noText.test(rest);
  }
}

const LF = 0x0a;
const BACKSLASH = 0x5c;
const deltaLine = "event: content_block_delta".length;
const LETTER_D = 0x64;

/**
 * True for one whole delta in which no line ends. Most chunks are such deltas and need no other check, which
 * saves most of the time that reading them would take. One letter distinguishes the name of a delta from
 * other names of its length.
 */
function isDeltaWithoutEscapes(bytes: Buffer): boolean {
  return (
    bytes[deltaLine] === LF &&
    bytes[deltaLine - "delta".length] === LETTER_D &&
    bytes.indexOf(BACKSLASH) === -1 &&
    bytes.indexOf(LF, deltaLine + 1) === bytes.length - 2 &&
    bytes[bytes.length - 1] === LF
  );
}

/** The start of a line that may be ours, in an incomplete event. */
const laterLine = /(?<!\\)(?:\\\\)*\\n(?:[ >`*]|\\[trf])*[[\-#<]/;
const firstOrLaterLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<]/;
/** The same, behind one of our lines. */
const nextLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<A-Z]/;
/** The beginning of an event that holds no text. */
const noText =
  /^event: ?(?!content_block_(?:delta|start)\b)\w+\r?\n|"(?:thinking|signature|input_json|citations)_delta"/;

/** The position behind the blank line that ends an event; null if there is none. */
function eventEnd(text: string, from: number): number | null {
  for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at + 1] === "\n") return at + 2;
    if (text[at + 1] === "\r" && text[at + 2] === "\n") return at + 3;
  }
  return null;
}

/** Collects output bytes. Neighbouring slices of a buffer are joined; mostly they are the input itself. */
class OutputSlices {
  readonly pieces: Uint8Array[] = [];
  #bytes: Buffer | null = null;
  #start = 0;
  #end = 0;

  add(bytes: Buffer, { start, end }: ByteRange): void {
    if (start >= end) return;
    if (bytes !== this.#bytes || start !== this.#end) this.close();
    if (this.#bytes === null) this.#start = start;
    this.#bytes = bytes;
    this.#end = end;
  }

  addChunk({ bytes, sent, end, cuts }: StripChunk): void {
    let start = sent;
    for (const cut of cuts) {
      this.add(bytes, { start, end: cut.start });
      start = cut.end;
    }
    this.add(bytes, { start, end });
  }

  close(): readonly Uint8Array[] {
    if (this.#bytes !== null) this.pieces.push(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = null;
    return this.pieces;
  }
}

function stripMessage(bytes: Buffer, rules: OwnLineRules): readonly Uint8Array[] {
  const text = bytes.toString("latin1");
  const chunk: StripChunk = { bytes, text, start: 0, end: bytes.length, sent: 0, cuts: [] };
  const cutter = new OwnLineCutter(rules);
  for (const block of contentRanges(bytes)) {
    const range = textRange(bytes, block, "text");
    if (range === null) continue;
    cutter.beginText();
    cutter.addText(chunk, range);
    cutter.endText();
  }
  const out = new OutputSlices();
  out.addChunk(chunk);
  return out.close();
}
