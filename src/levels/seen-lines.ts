import { isSameLine, type LinedText, linedText } from "./seen-lines-text.ts";

/** Lines from `from` to `to`, counted from 1, that stand in the earlier text `id` from `otherFrom` on. */
export type SeenRun = {
  readonly from: number;
  readonly to: number;
  readonly id: number;
  readonly otherFrom: number;
  /** The printed number of the first line, if all of them have one and they follow each other. */
  readonly number: number | null;
  /** How much higher their printed numbers are here: a file is read again after an edit above. */
  readonly numbersUp: number;
};

export type SeenLimits = {
  /** Shorter runs cost a reader more than they save. */
  readonly linesMin: number;
  readonly charsMin: number;
  /** So much of the past is known; what was added first is forgotten first. */
  readonly sizeMax: number;
};

/** Half the length finds 1 % more of what recorded sessions repeat, with twice as many references. */
export const seenLimits: SeenLimits = { linesMin: 8, charsMin: 400, sizeMax: 2_000_000 };

/** What is kept of a line besides its characters, in characters. */
const lineSize = 40;

/** The hash of a few lines is their sum, each times one more power of this. */
const factor = 0x2545f491;

type Shown = { readonly id: number; readonly lined: LinedText };
/** Where lines stand that have some hash. */
type Place = { readonly shown: Shown; readonly line: number };

/**
 * The lines of texts that were shown before. What is asked of it costs as much as the new text is long,
 * however much was shown; what it finds stands there character by character, hashes only lead to it.
 */
export class SeenLines {
  private readonly limits: SeenLimits;
  private readonly texts = new Map<number, Shown>();
  private readonly places = new Map<number, Place>();
  private size = 0;
  /** The text that was asked about is, most often, the one that is added next. */
  private asked: LinedText | null = null;
  private readonly topPower: number;

  constructor(limits: Partial<SeenLimits> = {}) {
    this.limits = { ...seenLimits, ...limits };
    let power = 1;
    for (let line = 0; line < this.limits.linesMin; line += 1) power = Math.imul(power, factor);
    this.topPower = power;
  }

  /**
   * Runs that are shown as a reference are no place to refer to: the lines do not stand there. Pass what
   * `matches` has found for this text if it was shown so.
   */
  add(id: number, text: string, referred: readonly SeenRun[] = []): void {
    this.forget(id);
    const { charsMin, sizeMax } = this.limits;
    // Most results are too short to hold a run.
    if (text.length < charsMin) return;
    const shown = { id, lined: this.asked?.text === text ? this.asked : linedText(text) };
    this.asked = null;
    if (sizeOf(shown) > sizeMax) return;
    this.texts.set(id, shown);
    this.size += sizeOf(shown);
    let from = 0;
    for (const run of referred) {
      this.addPlaces(shown, from, run.from - 1);
      from = run.to;
    }
    this.addPlaces(shown, from, shown.lined.count);
    this.keepBounded();
  }

  /** Its lines are not shown any more. */
  forget(id: number): void {
    const shown = this.texts.get(id);
    if (shown === undefined) return;
    this.texts.delete(id);
    this.size -= sizeOf(shown);
    this.eachWindow(shown.lined, { from: 0, to: shown.lined.count }, (hash) => {
      if (this.places.get(hash)?.shown === shown) this.places.delete(hash);
    });
  }

  /** The runs of a new text that stand, in one piece, in one text of before; in order, none over another. */
  matches(text: string): readonly SeenRun[] {
    if (this.texts.size === 0 || text.length < this.limits.charsMin) return [];
    const lined = linedText(text);
    this.asked = lined;
    const runs: SeenRun[] = [];
    let next = 0;
    this.eachWindow(lined, { from: 0, to: lined.count }, (hash, line) => {
      if (line < next) return;
      const place = this.places.get(hash);
      const run = place === undefined ? null : runFrom(lined, line, place);
      if (run === null || run.to - line < this.limits.linesMin) return;
      const isWorthIt = charsOf(lined, run.from, run.to) >= this.limits.charsMin;
      if (isWorthIt) runs.push(run);
      // A run that is too short has no longer one inside; what begins in its last lines may go on elsewhere.
      next = isWorthIt ? run.to : Math.max(line + 1, run.to - this.limits.linesMin + 1);
    });
    return runs;
  }

  /** Of several places the latest is known: to look at more finds nothing that counts. */
  private addPlaces(shown: Shown, from: number, to: number): void {
    this.eachWindow(shown.lined, { from, to }, (hash, line) => {
      this.places.set(hash, { shown, line });
    });
  }

  /** Each group of as many lines as a run has at least, by the line it begins with; one step a line. */
  private eachWindow(lined: LinedText, span: Span, visit: (hash: number, line: number) => void): void {
    const { linesMin } = this.limits;
    const { hashes } = lined;
    let sum = 0;
    for (let line = span.from; line < span.to; line += 1) {
      sum = (Math.imul(sum, factor) + (hashes[line] as number)) | 0;
      const gone = line - linesMin;
      if (gone >= span.from) sum = (sum - Math.imul(hashes[gone] as number, this.topPower)) | 0;
      if (gone + 1 >= span.from) visit(sum, gone + 1);
    }
  }

  private keepBounded(): void {
    for (const id of this.texts.keys()) {
      if (this.size <= this.limits.sizeMax) return;
      this.forget(id);
    }
  }
}

type Span = { readonly from: number; readonly to: number };

function sizeOf({ lined }: Shown): number {
  return lined.text.length + lined.count * lineSize;
}

/** As far as the lines are the same; with no line in it if the hashes only happened to agree. */
function runFrom(lined: LinedText, line: number, place: Place): SeenRun {
  const other = place.shown.lined;
  let length = 0;
  let numbersUp: number | null = null;
  while (isSameLine({ lined, line: line + length }, { lined: other, line: place.line + length })) {
    const here = lined.numbers[line + length] as number;
    const up = here - (other.numbers[place.line + length] as number);
    // Without a number there is nothing to be higher.
    if (here >= 0 && numbersUp !== null && up !== numbersUp) break;
    if (here >= 0) numbersUp = up;
    length += 1;
  }
  const found = { from: line + 1, to: line + length, id: place.shown.id, otherFrom: place.line + 1 };
  return { ...found, number: firstNumber(lined, line, length), numbersUp: numbersUp ?? 0 };
}

/** Only if all the numbers follow each other: then the first and the last tell them all. */
function firstNumber({ numbers }: LinedText, line: number, length: number): number | null {
  const first = numbers[line] ?? -1;
  for (let at = 0; at < length; at += 1) {
    if (first < 0 || numbers[line + at] !== first + at) return null;
  }
  return first;
}

function charsOf({ starts, ends }: LinedText, from: number, to: number): number {
  return (ends[to - 1] as number) - (starts[from - 1] as number);
}

/**
 * The text with one line in the place of each run. A line that has a printed number is named by it, as a
 * reader of that file would; where the run begins in the other text is said in any case.
 */
export function withReferences(text: string, runs: readonly SeenRun[], mark: string): string {
  if (runs.length === 0) return text;
  const lines = text.split("\n");
  const parts: (readonly string[])[] = [];
  let next = 0;
  for (const run of runs) {
    parts.push(lines.slice(next, run.from - 1), [referenceLine(run, mark)]);
    next = run.to;
  }
  parts.push(lines.slice(next));
  return parts.flat().join("\n");
}

function referenceLine({ from, to, id, otherFrom, number, numbersUp }: SeenRun, mark: string): string {
  const last = to - from;
  if (number !== null) {
    const there = number - numbersUp;
    const here = `lines ${number}-${number + last}`;
    return `[${mark} ${here}: same as ${there}-${there + last} in #${id}, from its line ${otherFrom}]`;
  }
  const numbers = numbersUp === 0 ? "" : `, printed numbers ${numbersUp > 0 ? "+" : ""}${numbersUp}`;
  return `[${mark} ${last + 1} lines: same as in #${id}, from its line ${otherFrom}${numbers}]`;
}
