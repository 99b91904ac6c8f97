/** One event of a `text/event-stream`: its name and its data lines, joined. */
export type WireEvent = { readonly event: string; readonly data: string };

/** A line or an event longer than this is not looked at any further. */
export const eventBytesMax = 16 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

export type EventReader = {
  /** Takes bytes however they were cut; gives the events that are whole by now. */
  readonly push: (bytes: Uint8Array) => readonly WireEvent[];
  /** Bytes of an event that never ended. */
  readonly leftOver: () => number;
  /** Whether an event was too long; nothing after it is read. */
  readonly overflowed: () => boolean;
};

/**
 * Reads server-sent events from bytes cut anywhere, inside a character or between CR and LF too: lines are
 * found in bytes and decoded whole. An event without the blank line that ends it was not sent to its end and
 * does not count.
 */
export function eventReader(): EventReader {
  const state = { pending: [] as Uint8Array[], pendingBytes: 0, event: "", data: [] as string[], size: 0 };
  let afterCr = false;
  let overflowed = false;

  const line = (text: string, events: WireEvent[]): void => {
    if (text === "") {
      if (state.data.length > 0) events.push({ event: state.event, data: state.data.join("\n") });
      Object.assign(state, { event: "", data: [], size: 0 });
      return;
    }
    const { field, value } = fieldOf(text);
    state.size += value.length;
    if (field === "event") state.event = value;
    else if (field === "data") state.data.push(value);
  };

  const takeLine = (rest: Uint8Array): string => {
    const whole = state.pending.length === 0 ? rest : Buffer.concat([...state.pending, rest]);
    state.pending = [];
    state.pendingBytes = 0;
    return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString("utf8");
  };

  return {
    push: (bytes) => {
      const events: WireEvent[] = [];
      let start = 0;
      for (let at = 0; at < bytes.length && !overflowed; at += 1) {
        const byte = bytes[at];
        const isSecondHalf = byte === LF && afterCr && at === start;
        afterCr = byte === CR;
        if (isSecondHalf) start = at + 1;
        else if (byte === LF || byte === CR) {
          line(takeLine(bytes.subarray(start, at)), events);
          start = at + 1;
        }
      }
      if (start < bytes.length && !overflowed) {
        state.pending.push(bytes.slice(start));
        state.pendingBytes += bytes.length - start;
      }
      if (state.pendingBytes + state.size > eventBytesMax) {
        overflowed = true;
        Object.assign(state, { pending: [], data: [] });
      }
      return events;
    },
    leftOver: () => state.pendingBytes + state.size,
    overflowed: () => overflowed,
  };
}

function fieldOf(line: string): { readonly field: string; readonly value: string } {
  const colon = line.indexOf(":");
  if (colon === -1) return { field: line, value: "" };
  const value = line.slice(colon + 1);
  return { field: line.slice(0, colon), value: value.startsWith(" ") ? value.slice(1) : value };
}
