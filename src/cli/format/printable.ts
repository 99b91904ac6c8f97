import { textWidth } from "./text-width.ts";

/**
 * Text from sessions is written by models, tools and web pages. Some characters in it control a terminal:
 * they move the cursor, set titles, write to the clipboard, or reorder the text.
 */
const escapeMark = String.fromCharCode(27);
const colours = new RegExp(`${escapeMark}\\[[0-?]*[ -/]*[@-~]`, "g");
const blanks = /[\p{Zl}\p{Zp}\s]+/gu;
/** Control characters, direction marks, invisible fillers, and the tags in which text can hide. */
const controlCharacters =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const controlCharactersInLines =
  /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** Half of a surrogate pair; with the flag `u`, a whole pair does not match. */
const halves = /\p{Cs}/gu;

/** One line without control characters, at most this many columns wide. */
export function printable(text: string, columnsMax = Number.POSITIVE_INFINITY): string {
  // A first generous cut, because cleaning a megabyte takes long.
  const short = Number.isFinite(columnsMax) ? text.slice(0, columnsMax * 20 + 200) : text;
  const line = withoutControl(short.replace(colours, "").replace(blanks, " "), controlCharacters).trim();
  return cutColumns(line, columnsMax);
}

/** Several lines without control characters; line ends and tabs stay. */
export function printableLines(text: string): string {
  return withoutControl(text.replace(/\r\n/g, "\n").replace(colours, ""), controlCharactersInLines);
}

/** The same JSON value with control characters written as escapes. */
export function printableJson(text: string): string {
  return text.replace(controlCharactersInLines, (found) =>
    Array.from({ length: found.length }, (_, at) => {
      return `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

function withoutControl(text: string, pattern: RegExp): string {
  return text.replace(pattern, "").replace(halves, "\ufffd");
}

/** Cuts between characters and marks the cut. */
export function cutColumns(text: string, columnsMax: number): string {
  if (textWidth(text) <= columnsMax) return text;
  let [kept, columns] = ["", 0];
  for (const character of text) {
    columns += textWidth(character);
    if (columns > columnsMax - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
