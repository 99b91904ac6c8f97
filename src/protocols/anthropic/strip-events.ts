import type { OwnLineRules } from "../protocol.ts";
import { contentRanges, type TextEvent, textRange } from "./answer-event.ts";
import { OwnLineCutter, type StripChunk } from "./strip-lines.ts";

/** One of our lines does not take more events than this, unless most of them are empty. */
const heldEventsMax = 4_096;

/**
 * Takes our lines out of the events of an answer. It does so anywhere in a text, in code too: they carry a
 * nonce that content cannot guess, and the ledger, which compares the client's copy with the model's answer,
 * does not distinguish code. Reasoning is bound by signatures and the client parses a tool's input: those
 * stay.
 *
 * Events are held only from the point where a line begins like one of ours, until the line is decided. Held
 * events pass unchanged; the bytes of our lines are cut out of their texts, and nothing else changes: no
 * event is added, none is dropped. The line behind one of ours may continue it, as the rows of a manifest do:
 * it is held until its first word decides that.
 */
export class EventStripper {
  readonly #cutter: OwnLineCutter;
  /** The index of the content block whose text is open. */
  #index = -1;
  /** Whole events that are held. */
  #held: StripChunk[] = [];
  /** Pings in a row. */
  #pings = 0;

  constructor(rules: OwnLineRules) {
    this.#cutter = new OwnLineCutter(rules);
  }

  /** Only a line end could matter: nothing is held, and the open line is not ours. */
  get isQuiet(): boolean {
    return this.#held.length === 0 && this.#cutter.isQuiet;
  }

  /** Takes the next event; returns the events that are decided by now. */
  add(chunk: StripChunk, event: TextEvent): readonly StripChunk[] {
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
    return this.#takeDecided();
  }

  /** Returns everything that is held, because the answer has ended or cannot be read. */
  releaseAll(): readonly StripChunk[] {
    this.#cutter.releaseAll();
    return this.#takeDecided();
  }

  /** The beginning of the next event may pass: nothing is held, and none of our lines can begin in it. */
  mayPass(beginning: string): boolean {
    if (this.#held.length > 0) return false;
    const { isAtStart, followsOwnLine } = this.#cutter;
    const line = isAtStart ? (followsOwnLine ? nextLine : firstOrLaterLine) : laterLine;
    return !line.test(beginning) || noText.test(beginning);
  }

  #releaseOpen(): void {
    if (this.#cutter.firstOpenChunk !== null) this.#cutter.releaseAll();
  }

  #takeDecided(): readonly StripChunk[] {
    const { firstOpenChunk } = this.#cutter;
    const firstHeld = firstOpenChunk === null ? -1 : this.#held.indexOf(firstOpenChunk);
    const decided = firstHeld === -1 ? this.#held : this.#held.slice(0, firstHeld);
    this.#held = firstHeld === -1 ? [] : this.#held.slice(firstHeld);
    return decided;
  }
}

/** The start of a line that may be ours, in an incomplete event. */
const laterLine = /(?<!\\)(?:\\\\)*\\n(?:[ >`*]|\\[trf])*[[\-#<]/;
const firstOrLaterLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<]/;
/** The same, behind one of our lines. */
const nextLine = /(?<!\\)(?:\\\\)*(?:\\n|")(?:[ >`*]|\\[trf])*[[\-#<A-Z]/;
/** The beginning of an event that holds no text. */
const noText =
  /^event: ?(?!content_block_(?:delta|start)\b)\w+\r?\n|"(?:thinking|signature|input_json|citations)_delta"/;

/** Takes our lines out of a whole message; returns the chunk with their ranges. */
export function stripMessage(bytes: Buffer, rules: OwnLineRules): StripChunk {
  const text = bytes.toString("latin1");
  const whole = { bytes, text, start: 0, end: bytes.length };
  const chunk: StripChunk = { ...whole, delta: null, sent: 0, cuts: [] };
  const cutter = new OwnLineCutter(rules);
  for (const block of contentRanges(bytes)) {
    const range = textRange(bytes, block, "text");
    if (range === null) continue;
    cutter.beginText();
    cutter.addText(chunk, range);
    cutter.endText();
  }
  return chunk;
}
