import type { Range } from "../json-scan.ts";
import { contentIn, eventIn, other, textIn } from "./strip-event.ts";
import { Lines, type OwnLines, type Part } from "./strip-lines.ts";

/** Takes lines of ours out of an answer on its way to the client. */
export type Stripper = {
  /** Takes bytes however they were cut; gives those that can go on by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** No more bytes will come: gives what was held. */
  readonly end: () => readonly Uint8Array[];
};

/** Half an event longer than this is not looked at any further. */
const restBytesMax = 64 * 1024;

/** A line of ours does not come in more events, unless most of them say nothing. */
const waitingMax = 4_096;

/**
 * Strips server-sent events. A line of ours is taken out wherever it stands in a text, in code too: it bears
 * a mark nobody can guess, and the ledger, which compares the client's copy with what was really said, knows
 * of no code. Reasoning is bound by signatures and a tool's input is parsed by the client: they stay.
 *
 * Bytes pass as they come. Only from where a line begins as one of ours does are events held, until the line
 * shows what it is. Held events pass as they were; where the line is ours its bytes are cut out of their
 * texts, and nothing else changes: no event is added, none is dropped. Behind a line of ours the next one may
 * go on with it, as the rows of a manifest do: it is held until its first word shows that.
 */
export function eventStripper(own: OwnLines): Stripper {
  const events = new Events(own);
  return { push: (bytes) => events.push(bytes), end: () => events.end() };
}

/** Strips an answer that is one JSON message. It passes when it is whole, or too large to be looked at. */
export function messageStripper(own: OwnLines, bytesMax: number): Stripper {
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
    end: () => (held === null || length === 0 ? [] : strippedMessage(Buffer.concat(held), own)),
  };
}

class Events {
  readonly #lines: Lines;
  /** The content block whose text goes on. */
  #index = -1;
  /** Events that are whole but held. */
  #waiting: Part[] = [];
  /** How often in a row the upstream said that it has nothing to say. */
  #pings = 0;
  /** The beginning of the next event, and how much of it has passed. */
  #rest: Buffer = Buffer.alloc(0);
  #sent = 0;
  /** Whether the beginning of that event was too long to be kept. */
  #isLost = false;

  constructor(own: OwnLines) {
    this.#lines = new Lines(own);
  }

  push(given: Uint8Array): readonly Uint8Array[] {
    const fresh = Buffer.isBuffer(given)
      ? given
      : Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    if (this.#isIdle() && isDeltaWithoutEscapes(fresh)) return [fresh];
    const known = this.#rest.length;
    const bytes = known === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const text = bytes.toString("latin1");
    const out = new Outgoing();
    let [start, sent] = [0, this.#sent];
    // What ends an event may lie on both sides of a cut.
    for (let end = eventEnd(text, known - 2); end !== null; end = eventEnd(text, end)) {
      this.#take({ bytes, text, start, end, sent, cuts: [] });
      if (this.#waiting.length > 0) this.#release(out);
      start = end;
      sent = end;
    }
    this.#keep({ bytes, text, start, end: bytes.length, sent, cuts: [] }, out);
    return out.close();
  }

  end(): readonly Uint8Array[] {
    const out = new Outgoing();
    this.#lines.letGo();
    this.#release(out);
    out.add(this.#rest, { start: this.#sent, end: this.#rest.length });
    this.#sent = this.#rest.length;
    return out.close();
  }

  #take(part: Part): void {
    const event = this.#isLost ? other : eventIn(part);
    this.#isLost = false;
    switch (event.kind) {
      case "text":
        if (event.isStart) this.#lines.begin();
        else if (event.index !== this.#index) this.#lines.letGo();
        this.#index = event.index;
        this.#pings = 0;
        this.#lines.take(part, event);
        if (this.#waiting.length >= waitingMax) this.#letGo();
        break;
      case "stop":
        if (event.index === this.#index) this.#lines.finish();
        break;
      case "ping":
        // The client is not left without a sign of life for longer than the upstream leaves us.
        this.#pings += 1;
        if (this.#pings > 1) this.#letGo();
        break;
      case "other":
        this.#letGo();
    }
    this.#waiting.push(part);
  }

  /** Whether only the end of a line could matter: nothing is held, and the line is none of ours. */
  #isIdle(): boolean {
    return this.#rest.length === 0 && this.#waiting.length === 0 && this.#lines.isQuiet;
  }

  #letGo(): void {
    if (this.#lines.open !== null) this.#lines.letGo();
  }

  #release(out: Outgoing): void {
    const { open } = this.#lines;
    const held = open === null ? -1 : this.#waiting.indexOf(open);
    const passing = held === -1 ? this.#waiting : this.#waiting.slice(0, held);
    if (passing.length === 0) return;
    for (const part of passing) out.addPart(part);
    this.#waiting = held === -1 ? [] : this.#waiting.slice(held);
  }

  /** What there is of the next event passes too, unless a line of ours may begin in it. */
  #keep(part: Part, out: Outgoing): void {
    const { bytes, text, start, end } = part;
    if (end - start > restBytesMax) {
      this.#isLost = true;
      this.#lines.letGo();
      this.#release(out);
    }
    const passes = this.#isLost || (this.#waiting.length === 0 && !this.#mayBegin(text.slice(start)));
    if (passes) out.addPart(part);
    this.#rest = this.#isLost ? bytes.subarray(-2) : bytes.subarray(start);
    const sent = passes ? end : part.sent;
    this.#sent = sent - (end - this.#rest.length);
  }

  #mayBegin(rest: string): boolean {
    const { isAtStart, follows } = this.#lines;
    const beginning = isAtStart ? (follows ? nextLine : firstOrLaterLine) : laterLine;
    return beginning.test(rest) && !isNoText.test(rest);
  }
}

const LF = 0x0a;
const BACKSLASH = 0x5c;
const deltaLine = "event: content_block_delta".length;
const LETTER_D = 0x64;

/**
 * Whether this is one whole delta in which no line ends. Most are, and this is all that is done with them:
 * it takes a small part of the time that reading them would. The name of a delta is told from others of
 * its length by one letter.
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

/** Where a line may begin as one of ours in half an event. */
const laterLine = /(?<!\\)(?:\\\\)*\\n(?:[ >`*]|\\[trf])*[[\-#<]/;
const firstOrLaterLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<]/;
/** The same behind a line of ours. */
const nextLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<A-Z]/;
/** An event that is known to hold no text by its first half. */
const isNoText =
  /^event: ?(?!content_block_(?:delta|start)\b)\w+\r?\n|"(?:thinking|signature|input_json|citations)_delta"/;

/** Behind the blank line that ends an event; null where none does. */
function eventEnd(text: string, from: number): number | null {
  for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at + 1] === "\n") return at + 2;
    if (text[at + 1] === "\r" && text[at + 2] === "\n") return at + 3;
  }
  return null;
}

/** Bytes on their way out: what lies together goes together, in most cases the very bytes that came. */
class Outgoing {
  readonly pieces: Uint8Array[] = [];
  #bytes: Buffer | null = null;
  #start = 0;
  #end = 0;

  add(bytes: Buffer, { start, end }: Range): void {
    if (start >= end) return;
    if (bytes !== this.#bytes || start !== this.#end) this.close();
    if (this.#bytes === null) this.#start = start;
    this.#bytes = bytes;
    this.#end = end;
  }

  addPart({ bytes, sent, end, cuts }: Part): void {
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

function strippedMessage(bytes: Buffer, own: OwnLines): readonly Uint8Array[] {
  const text = bytes.toString("latin1");
  const part: Part = { bytes, text, start: 0, end: bytes.length, sent: 0, cuts: [] };
  const lines = new Lines(own);
  for (const block of contentIn(bytes)) {
    const range = textIn(bytes, block, "text");
    if (range === null) continue;
    lines.begin();
    lines.take(part, range);
    lines.finish();
  }
  const out = new Outgoing();
  out.addPart(part);
  return out.close();
}
