import { textWidth } from "./text-width.ts";

export type TwoColumnRow = readonly [left: string, right: string];

/** A narrower second column is hard to read. */
const rightMin = 24;
const indent = "  ";

/** Two columns; the second wraps below itself, or below the first if there is too little room. */
export function twoColumns(rows: readonly TwoColumnRow[], width: number): readonly string[] {
  const left = Math.max(0, ...rows.map(([word]) => textWidth(word)));
  const start = indent.length + left + 2;
  const isWide = width - start >= rightMin;
  const blank = isWide ? " ".repeat(start) : indent.repeat(3);
  return rows.flatMap(([word, text]) => {
    const lines = wrapText(text, width - blank.length);
    if (!isWide) return [`${indent}${word}`, ...lines.map((line) => `${blank}${line}`)];
    const [first = "", ...rest] = lines;
    const gap = " ".repeat(left - textWidth(word) + 2);
    return [`${indent}${word}${gap}${first}`.trimEnd(), ...rest.map((line) => `${blank}${line}`)];
  });
}

/** Wraps between words. A word longer than a line stands alone. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const joined = last === undefined ? word : `${last} ${word}`;
    if (last === undefined || textWidth(joined) > width) lines.push(word);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}
