import { columnsOf } from "./columns.ts";

/**
 * Text from sessions is written by models, tools and web pages. A terminal obeys some characters in it: they
 * move the cursor, set titles, write to the clipboard, or show text in another order than it is stored.
 */
const escapeMark = String.fromCharCode(27);
const colours = new RegExp(`${escapeMark}\\[[0-?]*[ -/]*[@-~]`, "g");
const blanks = /[\p{Zl}\p{Zp}\s]+/gu;
/** Control characters, direction marks, invisible fillers, and the tags in which text can hide. */
const obeyed =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const obeyedInLines =
  /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** Half a character; with the flag `u` a whole one does not match. */
const halves = /\p{Cs}/gu;

/** One line that a terminal only shows, at most so many columns wide. */
export function printable(text: string, columnsMax = Number.POSITIVE_INFINITY): string {
  // A first cut far beyond the last one: a megabyte in a name is not worth looking through.
  const short = Number.isFinite(columnsMax) ? text.slice(0, columnsMax * 20 + 200) : text;
  const line = cleaned(short.replace(colours, "").replace(blanks, " "), obeyed).trim();
  return cutColumns(line, columnsMax);
}

/** Several lines that a terminal only shows: line ends and tabs stay. */
export function printableLines(text: string): string {
  return cleaned(text.replace(/\r\n/g, "\n").replace(colours, ""), obeyedInLines);
}

/** The same JSON value, with what a terminal would obey written as escapes. */
export function printableJson(text: string): string {
  return text.replace(obeyedInLines, (found) =>
    Array.from({ length: found.length }, (_, at) => {
      return `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

function cleaned(text: string, pattern: RegExp): string {
  return text.replace(pattern, "").replace(halves, "\ufffd");
}

/** Cut between characters, with a mark that something is missing. */
export function cutColumns(text: string, columnsMax: number): string {
  if (columnsOf(text) <= columnsMax) return text;
  let [kept, columns] = ["", 0];
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > columnsMax - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
