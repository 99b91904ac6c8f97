// What stands where something was left out. It is three tokens long, because a text of which every third line
// is kept has hundreds; the first one in a text says in words what they mean.

const lineMarker = /^\[…(\d+)(?: lines? left out(?:; numbers show where)?)?\]$/;
const pieceMarker = /\[…\d+ch\]/;

/** Tokens of a marker with its line break. */
export const markerCost = 3;

export function linesMarker(count: number): string {
  return `[…${count}]`;
}

export function firstMarker(count: number): string {
  return `[…${count} ${count === 1 ? "line" : "lines"} left out]`;
}

/** The only one in a text whose lines are numbered: what is missing after it can be seen. */
export function numberedMarker(count: number): string {
  return `[…${count} ${count === 1 ? "line" : "lines"} left out; numbers show where]`;
}

/** Inside a line that was too long to be kept or left out as a whole. */
export function pieceMarkerOf(count: number): string {
  return `[…${count}ch]`;
}

export type Alike = {
  /** How many lines are left out because they say the same. */
  readonly count: number;
  /** How the first of them begins, which is shown. */
  readonly start: string;
  readonly names: readonly string[];
  readonly others: number;
};

const alikeLine = /^\[…\d+ more like ".*\]$/;

/** Behind the text: which names stand in lines that were left out because they say what others say. */
export function alikeMarker({ count, start, names, others }: Alike): string {
  const rest = others === 0 ? [] : [`${others} other ${others === 1 ? "name" : "names"}`];
  const told = [...(names.length === 0 ? [] : [names.join(", ")]), ...rest].join("; ");
  return `[…${count} more like "${start}"${told === "" ? "" : `: ${told}`}]`;
}

/** How many lines a line stands for: one, if it is no marker. */
export function linesOf(line: string): number {
  // The gaps they were left out of count them already.
  if (line.startsWith("[…") && alikeLine.test(line)) return 0;
  const match = line.startsWith("[…") ? lineMarker.exec(line) : null;
  return match === null ? 1 : Number(match[1]);
}

/** What a trimmed text has of its original: whole lines, and pieces of long ones as lines of their own. */
export function keptText(trimmed: string): string {
  const lines = trimmed.split("\n").filter((line) => !lineMarker.test(line) && !alikeLine.test(line));
  return lines.join("\n").replace(new RegExp(pieceMarker, "g"), "\n");
}
