import { ok, type Result } from "../base/index.ts";
import { levels } from "../engine/frames/index.ts";
import { type Pointer, positions, zones } from "./command.ts";
import { joinChoices, quoteInput, refuse } from "./refuse.ts";
import { quoteArgument } from "./split-arguments.ts";

/** The names of arguments that are pointers. A name gives the type, so the value needs no `block-` or `#`. */
export const pointerNames = [
  "target",
  "targets",
  "block",
  "blocks",
  "id",
  "ids",
  "message",
  "messages",
  "zone",
  "topic",
  "query",
] as const;
export type PointerName = (typeof pointerNames)[number];

/** `27`, `#27`, `block-27`, `part 27`, `#1..#10`, `1-10`, `message-10..25`. */
const idForm =
  /^(?:(block|message|part|msg)s?[-_ #]?|#)?([1-9]\d{0,14})(?: ?(?:\.{2,3}|-|–|to) ?(?:(?:block|message|part|msg)[-_ #]?|#)?([1-9]\d{0,14}))?$/;
/** A range of two ids is shorter than this; a longer text is a topic. */
const idCharsMax = 64;

/** Reads a pointer from a word. A text with no other meaning is a topic. */
export function readPointer(text: string): Pointer {
  const word = text.trim();
  return readSpecial(word.toLowerCase()) ?? { by: "topic", words: text };
}

/** Reads a pointer from the value of an argument with one of the names above. */
export function readNamedPointer(name: PointerName, text: string): Result<Pointer> {
  if (name === "topic" || name === "query") return ok({ by: "topic", words: text });
  const word = text.trim().toLowerCase();
  const pointer = readSpecial(word);
  if (name === "zone") {
    return pointer?.by === "zone"
      ? ok(pointer)
      : refuse(`${quoteInput(text)} is no zone: use ${joinChoices(zones)}`);
  }
  const isMessage = name === "message" || name === "messages";
  if (isMessage && pointer?.by === "block") return ok({ ...pointer, by: "message" });
  return ok(pointer ?? { by: "topic", words: text });
}

export function printPointer(pointer: Pointer): string {
  switch (pointer.by) {
    case "block":
    case "message": {
      const { by, first, last } = pointer;
      return first === last ? `${by}-${first}` : `${by}-${first}..${by}-${last}`;
    }
    case "zone":
      return pointer.zone;
    case "stale":
      return "stale";
    case "topic":
      // A topic that would be read as something else is named as a topic.
      return isReserved(pointer.words)
        ? `topic: ${quoteArgument(pointer.words)}`
        : quoteArgument(pointer.words);
  }
}

function isReserved(words: string): boolean {
  const word = words.trim().toLowerCase();
  return readSpecial(word) !== null || [...levels, ...positions].some((each) => each === word);
}

function readSpecial(word: string): Pointer | null {
  if (word === "stale") return { by: "stale" };
  const zone = zones.find((each) => word === each || word === `zone:${each}`);
  return zone === undefined ? readIds(word) : { by: "zone", zone };
}

function readIds(word: string): Pointer | null {
  if (word.length > idCharsMax) return null;
  const [, of, first, last = first] = idForm.exec(word) ?? [];
  if (first === undefined) return readUnknownId(word);
  const by = of === "message" || of === "msg" ? "message" : "block";
  const [low, high] = [Number(first), Number(last)];
  return { by, first: Math.min(low, high), last: Math.max(low, high) };
}

/** `block-0`, `#-1`, `part 99999999999999999999`: written as an id that no block has. */
const unknownIdForm =
  /^(?:(block|message|part|msg)s?[-_ #]|#)-?\d{1,40}(?: ?(?:\.{2,3}|-|–|to) ?(?:(?:block|message|part|msg)[-_ #]|#)?-?\d{1,40})?$/;

/** Points at block or message 0, which never exists: read as a topic it might find any block. */
function readUnknownId(word: string): Pointer | null {
  const [whole, of] = unknownIdForm.exec(word) ?? [];
  if (whole === undefined) return null;
  return { by: of === "message" || of === "msg" ? "message" : "block", first: 0, last: 0 };
}
