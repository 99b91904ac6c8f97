// Markers take the place of text that was left out. A marker is three tokens long, because a text that keeps
// every third line has hundreds of them. The first marker of a text explains in words what the others mean.

const gapMarker = /^\[…(\d+)(?: lines? left out(?:; numbers show where)?)?\]$/;

/** Tokens of a marker with its line break. */
export const markerCost = 3;

export function linesMarker(count: number): string {
  return `[…${count}]`;
}

export function firstMarker(count: number): string {
  return `[…${count} ${count === 1 ? "line" : "lines"} left out]`;
}

/** The only marker of a text with line numbers: later gaps show in the numbers. */
export function numberedMarker(count: number): string {
  return `[…${count} ${count === 1 ? "line" : "lines"} left out; numbers show where]`;
}

/** Marks a gap inside a long line that is kept in part. */
export function charsMarker(count: number): string {
  return `[…${count}ch]`;
}

export type SimilarLines = {
  /** How many lines are left out because a shown line reads the same. */
  readonly count: number;
  /** The beginning of the first line of the group, which is shown. */
  readonly start: string;
  /** Names that the hidden lines mention, as many as fit. */
  readonly names: readonly string[];
  /** How many names did not fit. */
  readonly unlisted: number;
};

const similarLinesPattern = /^\[…\d+ more like ".*\]$/;

/** Stands after the trimmed text: lists names from lines that were left out of a group of similar lines. */
export function similarLinesMarker({ count, start, names, unlisted }: SimilarLines): string {
  const rest = unlisted === 0 ? [] : [`${unlisted} other ${unlisted === 1 ? "name" : "names"}`];
  const list = [...(names.length === 0 ? [] : [names.join(", ")]), ...rest].join("; ");
  return `[…${count} more like "${start}"${list === "" ? "" : `: ${list}`}]`;
}

/** Counts the original lines that a line stands for: one, unless it is a marker of an earlier trim. */
export function originalLines(line: string): number {
  // The gap markers in the text already count these lines.
  if (line.startsWith("[…") && similarLinesPattern.test(line)) return 0;
  const match = line.startsWith("[…") ? gapMarker.exec(line) : null;
  return match === null ? 1 : Number(match[1]);
}
