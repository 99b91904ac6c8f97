import { costOf } from "../cost.ts";
import { lineNumber } from "../detect-content.ts";
import {
  charsMarker,
  firstMarker,
  linesMarker,
  markerCost,
  numberedMarker,
  originalLines,
} from "./gap-markers.ts";
import type { Segment } from "./segments.ts";

export type TrimmedSegments = {
  readonly segments: readonly Segment[];
  /** By segment: 1 if it is kept. */
  readonly keep: Uint8Array;
  readonly isNumbered: boolean;
};

/** Writes the kept segments verbatim, with markers for the gaps. */
export function writeTrimmed({ segments, keep, isNumbered }: TrimmedSegments): string {
  const writer = new LineWriter(isNumbered);
  let start = 0;
  for (const [at, { text, isContinued }] of segments.entries()) {
    if (isContinued) continue;
    const isWhole = start === at;
    const isKept = isWhole ? keep[at] === 1 : keep.subarray(start, at + 1).includes(1);
    const pieces = isWhole ? [] : segments.slice(start, at + 1).map((segment) => segment.text);
    if (!isKept) writer.skip(isWhole ? text : pieces.join(""));
    else writer.add(isWhole ? text : joinPieces(pieces, keep.subarray(start, at + 1)));
    start = at + 1;
  }
  return writer.text();
}

/** Joins the kept pieces of one line. */
function joinPieces(pieces: readonly string[], keep: Uint8Array): string {
  let text = "";
  let missing = 0;
  for (const [at, piece] of pieces.entries()) {
    if (keep[at] === 0) {
      missing += piece.length;
      continue;
    }
    if (missing > 0) text += charsMarker(missing);
    missing = 0;
    text += piece;
  }
  return missing > 0 ? text + charsMarker(missing) : text;
}

/** Collects kept lines, and counts skipped ones until the next kept line closes the gap. */
class LineWriter {
  readonly #isNumbered: boolean;
  readonly #lines: string[] = [];
  #gap = 0;
  #lastSkipped = "";
  #isFirstGap = true;

  constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered;
  }

  skip(line: string): void {
    this.#gap += originalLines(line);
    this.#lastSkipped = line;
  }

  add(line: string): void {
    const isVisible = this.#isNumbered && lineNumber.test(line) && lineNumber.test(this.#lines.at(-1) ?? "");
    this.#closeGap(isVisible && !this.#isFirstGap);
    this.#lines.push(line);
  }

  text(): string {
    this.#closeGap(false);
    return this.#lines.join("\n");
  }

  /** Line numbers make a gap visible without a marker. A line as cheap as its marker is written instead. */
  #closeGap(isVisible: boolean): void {
    if (this.#gap === 1 && costOf(this.#lastSkipped) <= markerCost) this.#lines.push(this.#lastSkipped);
    else if (this.#gap > 0 && !isVisible) this.#lines.push(this.#marker());
    this.#gap = 0;
  }

  #marker(): string {
    if (!this.#isFirstGap) return linesMarker(this.#gap);
    this.#isFirstGap = false;
    return this.#isNumbered ? numberedMarker(this.#gap) : firstMarker(this.#gap);
  }
}
