import { ok, type Result } from "../base/index.ts";
import { levels } from "../engine/index.ts";
import { quoted } from "./arguments.ts";
import { type Pointer, positions, zones } from "./command.ts";
import { cited, oneOf, refuse } from "./written.ts";

/** Under these names an argument says what it points at; the value then needs no sign of its own. */
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
const numbers =
  /^(?:(block|message|part|msg)s?[-_ #]?|#)?([1-9]\d{0,14})(?: ?(?:\.{2,3}|-|–|to) ?(?:(?:block|message|part|msg)[-_ #]?|#)?([1-9]\d{0,14}))?$/;
/** Longer than anything with two numbers in it: what follows is words. */
const numbersCharsMax = 64;

/** What a word points at. Whatever has no other meaning is a topic. */
export function readPointer(text: string): Pointer {
  const word = text.trim();
  return readSpecial(word.toLowerCase()) ?? { by: "topic", words: text };
}

/** The value of an argument with one of the names above. */
export function readNamedPointer(name: PointerName, text: string): Result<Pointer> {
  if (name === "topic" || name === "query") return ok({ by: "topic", words: text });
  const word = text.trim().toLowerCase();
  const pointer = readSpecial(word);
  if (name === "zone") {
    return pointer?.by === "zone" ? ok(pointer) : refuse(`${cited(text)} is no zone: use ${oneOf(zones)}`);
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
      // Words that would mean something else say that they are words.
      return isReserved(pointer.words) ? `topic: ${quoted(pointer.words)}` : quoted(pointer.words);
  }
}

function isReserved(words: string): boolean {
  const word = words.trim().toLowerCase();
  return readSpecial(word) !== null || [...levels, ...positions].some((each) => each === word);
}

function readSpecial(word: string): Pointer | null {
  if (word === "stale") return { by: "stale" };
  const zone = zones.find((each) => word === each || word === `zone:${each}`);
  return zone === undefined ? readNumbers(word) : { by: "zone", zone };
}

function readNumbers(word: string): Pointer | null {
  if (word.length > numbersCharsMax) return null;
  const [, of, first, last = first] = numbers.exec(word) ?? [];
  if (first === undefined) return readNobody(word);
  const by = of === "message" || of === "msg" ? "message" : "block";
  const [low, high] = [Number(first), Number(last)];
  return { by, first: Math.min(low, high), last: Math.max(low, high) };
}

/** `block-0`, `#-1`, `part 99999999999999999999`: meant as an id, which nobody has. */
const nobody =
  /^(?:(block|message|part|msg)s?[-_ #]|#)-?\d{1,40}(?: ?(?:\.{2,3}|-|–|to) ?(?:(?:block|message|part|msg)[-_ #]|#)?-?\d{1,40})?$/;

/** Taken for words it might point at anything. */
function readNobody(word: string): Pointer | null {
  const [whole, of] = nobody.exec(word) ?? [];
  if (whole === undefined) return null;
  return { by: of === "message" || of === "msg" ? "message" : "block", first: 0, last: 0 };
}
