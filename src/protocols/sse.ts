/** One event of a `text/event-stream`: its name and its data lines, joined. */
export type WireEvent = { readonly event: string; readonly data: string };

/** Reading stops at a line or an event longer than this. */
export const eventBytesMax = 16 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

export type EventReader = {
  /** Takes bytes cut anywhere; returns the events that are whole by now. */
  readonly push: (bytes: Uint8Array) => readonly WireEvent[];
  /** Bytes of an event that never ended. */
  readonly pendingBytes: () => number;
  /** An event was too long; nothing after it is read. */
  readonly hasOverflowed: () => boolean;
};

/**
 * Reads server-sent events from bytes cut anywhere, inside a character or between CR and LF too: only whole
 * lines are decoded. An event without the blank line that ends it is incomplete and does not count.
 */
export function eventReader(): EventReader {
  const open = new OpenEvent();
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let isAfterCr = false;
  let overflowed = false;

  const keep = (rest: Uint8Array): void => {
    if (rest.length === 0) return;
    pending.push(Uint8Array.from(rest));
    pendingBytes += rest.length;
  };

  /** Decodes everything up to the last line end, and ends each line with LF alone. */
  const takeLines = (bytes: Buffer, end: number): string => {
    const lines = bytes.subarray(0, end);
    const text = (pending.length === 0 ? lines : Buffer.concat([...pending, lines])).toString("utf8");
    const isSecondHalf = isAfterCr && text.startsWith("\n");
    pending = [];
    pendingBytes = 0;
    isAfterCr = end === bytes.length && bytes[end - 1] === CR;
    const withoutHalf = isSecondHalf ? text.slice(1) : text;
    return withoutHalf.includes("\r") ? withoutHalf.replace(/\r\n?/g, "\n") : withoutHalf;
  };

  return {
    push: (input) => {
      const events: WireEvent[] = [];
      if (overflowed || input.length === 0) return events;
      const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
      const end = linesEnd(bytes);
      if (end > 0) open.addLines(takeLines(bytes, end), events);
      else isAfterCr = false;
      keep(bytes.subarray(end));
      overflowed = pendingBytes + open.size > eventBytesMax;
      if (overflowed) pending = [];
      return events;
    },
    pendingBytes: () => pendingBytes + open.size,
    hasOverflowed: () => overflowed,
  };
}

/** The position behind the last line end; 0 if there is none. Mostly the last byte is one. */
function linesEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] !== LF && bytes[end - 1] !== CR) end -= 1;
  return end;
}

/** The event whose lines are still arriving. */
class OpenEvent {
  /** Its characters so far. */
  size = 0;
  #event = "";
  #data: string | null = null;

  /** Contract: every line of the text is whole. */
  addLines(text: string, events: WireEvent[]): void {
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      if (end === start) this.#finish(events);
      else this.#addLine(text.slice(start, end));
      start = end + 1;
    }
  }

  #finish(events: WireEvent[]): void {
    if (this.#data !== null) events.push({ event: this.#event, data: this.#data });
    this.#event = "";
    this.#data = null;
    this.size = 0;
  }

  #addLine(line: string): void {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const from = line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1;
    const value = colon === -1 ? "" : line.slice(from);
    this.size += value.length;
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
  }
}
