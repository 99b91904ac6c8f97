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

/** How many lines a line stands for: one, if it is no marker. */
export function linesOf(line: string): number {
  const match = line.startsWith("[…") ? lineMarker.exec(line) : null;
  return match === null ? 1 : Number(match[1]);
}

/** What a trimmed text has of its original: whole lines, and pieces of long ones as lines of their own. */
export function keptText(trimmed: string): string {
  const lines = trimmed.split("\n").filter((line) => !lineMarker.test(line));
  return lines.join("\n").replace(new RegExp(pieceMarker, "g"), "\n");
}
