import { numbered } from "./content.ts";
import { costOf } from "./cost.ts";
import { firstMarker, linesMarker, linesOf, markerCost, numberedMarker, pieceMarkerOf } from "./marker.ts";
import type { Unit } from "./units.ts";

export type Kept = {
  readonly units: readonly Unit[];
  /** By unit: 1 if it is kept. */
  readonly keep: Uint8Array;
  readonly isNumbered: boolean;
};

/** What is kept, as it stood, with markers where something is missing. */
export function written({ units, keep, isNumbered }: Kept): string {
  const page = new Page(isNumbered);
  let start = 0;
  for (const [at, { text, goesOn }] of units.entries()) {
    if (goesOn) continue;
    const isWhole = start === at;
    const isKept = isWhole ? keep[at] === 1 : keep.subarray(start, at + 1).includes(1);
    const pieces = isWhole ? [] : units.slice(start, at + 1).map((unit) => unit.text);
    if (!isKept) page.leaveOut(isWhole ? text : pieces.join(""));
    else page.add(isWhole ? text : joined(pieces, keep.subarray(start, at + 1)));
    start = at + 1;
  }
  return page.text();
}

/** A line of which only pieces may be kept. */
function joined(pieces: readonly string[], keep: Uint8Array): string {
  let text = "";
  let missing = 0;
  for (const [at, piece] of pieces.entries()) {
    if (keep[at] === 0) {
      missing += piece.length;
      continue;
    }
    if (missing > 0) text += pieceMarkerOf(missing);
    missing = 0;
    text += piece;
  }
  return missing > 0 ? text + pieceMarkerOf(missing) : text;
}

/** Lines as they come, and the gap that is open at its end. */
class Page {
  readonly #isNumbered: boolean;
  readonly #lines: string[] = [];
  #gap = 0;
  #lastMissing = "";
  #isFirst = true;

  constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered;
  }

  leaveOut(line: string): void {
    this.#gap += linesOf(line);
    this.#lastMissing = line;
  }

  add(line: string): void {
    const isSeen = this.#isNumbered && numbered.test(line) && numbered.test(this.#lines.at(-1) ?? "");
    this.#closeGap(isSeen && !this.#isFirst);
    this.#lines.push(line);
  }

  text(): string {
    this.#closeGap(false);
    return this.#lines.join("\n");
  }

  /** A gap that the numbers of the lines show needs no marker, nor does one that is cheaper to fill. */
  #closeGap(isSeen: boolean): void {
    if (this.#gap === 1 && costOf(this.#lastMissing) <= markerCost) this.#lines.push(this.#lastMissing);
    else if (this.#gap > 0 && !isSeen) this.#lines.push(this.#marker());
    this.#gap = 0;
  }

  #marker(): string {
    if (!this.#isFirst) return linesMarker(this.#gap);
    this.#isFirst = false;
    return this.#isNumbered ? numberedMarker(this.#gap) : firstMarker(this.#gap);
  }
}
