import { columnsOf } from "./columns.ts";

export type HangingRow = readonly [left: string, right: string];

/** Below this a second column is too narrow to be read. */
const rightMin = 24;
const indent = "  ";

/** Two columns, the second one wrapped below itself; where there is no room for that, below the first. */
export function hanging(rows: readonly HangingRow[], width: number): readonly string[] {
  const left = Math.max(0, ...rows.map(([word]) => columnsOf(word)));
  const start = indent.length + left + 2;
  const isWide = width - start >= rightMin;
  const blank = isWide ? " ".repeat(start) : indent.repeat(3);
  return rows.flatMap(([word, text]) => {
    const lines = wrapped(text, width - blank.length);
    if (!isWide) return [`${indent}${word}`, ...lines.map((line) => `${blank}${line}`)];
    const [first = "", ...rest] = lines;
    const gap = " ".repeat(left - columnsOf(word) + 2);
    return [`${indent}${word}${gap}${first}`.trimEnd(), ...rest.map((line) => `${blank}${line}`)];
  });
}

/** Between words; one that is longer than a line stands alone. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const joined = last === undefined ? word : `${last} ${word}`;
    if (last === undefined || columnsOf(joined) > width) lines.push(word);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}
