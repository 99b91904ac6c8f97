import { isSameLine, type LineTable, readLineTable } from "./line-table.ts";

/** Lines `from` to `to` of a new text, counted from 1, which text `id` has from its line `otherFrom` on. */
export type SeenRun = {
  readonly from: number;
  readonly to: number;
  readonly id: number;
  readonly otherFrom: number;
  /** The printed number of the first line; null if the lines are not numbered without gaps. */
  readonly number: number | null;
  /** The printed numbers are this much higher than in the earlier text, as after an edit above them. */
  readonly numbersUp: number;
};

type SeenLimits = {
  /** A shorter run is not replaced: a reference costs the reader more than it saves. */
  readonly linesMin: number;
  readonly charsMin: number;
  /** Characters of earlier texts that are kept; the oldest text is dropped first. */
  readonly sizeMax: number;
};

/** With half of `linesMin`, recorded sessions save 1 % more with twice as many references. */
const defaultLimits: SeenLimits = { linesMin: 8, charsMin: 400, sizeMax: 2_000_000 };

/** Memory for the table entries of a line, in characters. */
const lineSize = 40;

/** Base of the rolling hash over a window of lines. */
const hashBase = 0x2545f491;

type SeenText = { readonly id: number; readonly lines: LineTable };
/** The first line of a window in an earlier text. */
type LinePosition = { readonly seen: SeenText; readonly line: number };

/**
 * Finds lines of new texts in texts that were shown before. A search takes time linear in the new text,
 * however many earlier texts there are. Hashes find candidates; a run is reported only if all its characters
 * are the same.
 */
export class SeenLines {
  private readonly limits: SeenLimits;
  private readonly texts = new Map<number, SeenText>();
  /** By hash of a window of lines. */
  private readonly windows = new Map<number, LinePosition>();
  private size = 0;
  /** The last text that was searched, because it is usually the next one to be added. */
  private lastSearched: LineTable | null = null;
  private readonly topPower: number;

  constructor(limits: Partial<SeenLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
    let power = 1;
    for (let line = 0; line < this.limits.linesMin; line += 1) power = Math.imul(power, hashBase);
    this.topPower = power;
  }

  /**
   * Adds a text that was shown. `replaced` are its runs that were shown as references: no later text may
   * refer to them, because their lines are not shown.
   */
  add(id: number, text: string, replaced: readonly SeenRun[] = []): void {
    this.forget(id);
    const { charsMin, sizeMax } = this.limits;
    // Most results are too short to contain a run.
    if (text.length < charsMin) return;
    const lines = this.lastSearched?.text === text ? this.lastSearched : readLineTable(text);
    const seen = { id, lines };
    this.lastSearched = null;
    if (sizeOf(seen) > sizeMax) return;
    this.texts.set(id, seen);
    this.size += sizeOf(seen);
    let from = 0;
    for (const run of replaced) {
      this.addWindows(seen, from, run.from - 1);
      from = run.to;
    }
    this.addWindows(seen, from, lines.count);
    this.dropOldest();
  }

  /** Removes a text whose lines are no longer shown. */
  forget(id: number): void {
    const seen = this.texts.get(id);
    if (seen === undefined) return;
    this.texts.delete(id);
    this.size -= sizeOf(seen);
    this.visitWindows(seen.lines, { from: 0, to: seen.lines.count }, (hash) => {
      if (this.windows.get(hash)?.seen === seen) this.windows.delete(hash);
    });
  }

  /** Finds the runs of a new text that earlier texts contain, in order and without overlap. */
  matches(text: string): readonly SeenRun[] {
    if (this.texts.size === 0 || text.length < this.limits.charsMin) return [];
    const lines = readLineTable(text);
    this.lastSearched = lines;
    const runs: SeenRun[] = [];
    let next = 0;
    this.visitWindows(lines, { from: 0, to: lines.count }, (hash, line) => {
      if (line < next) return;
      const position = this.windows.get(hash);
      const run = position === undefined ? null : runFrom(lines, line, position);
      if (run === null || run.to - line < this.limits.linesMin) return;
      const isLongEnough = charsOf(lines, run.from, run.to) >= this.limits.charsMin;
      if (isLongEnough) runs.push(run);
      // No longer run begins inside one that is too short, except in its last lines.
      next = isLongEnough ? run.to : Math.max(line + 1, run.to - this.limits.linesMin + 1);
    });
    return runs;
  }

  /** Keeps the latest position of each window: trying the others finds hardly more. */
  private addWindows(seen: SeenText, from: number, to: number): void {
    this.visitWindows(seen.lines, { from, to }, (hash, line) => {
      this.windows.set(hash, { seen, line });
    });
  }

  /** Visits every window of `linesMin` lines with its hash, in one step per line. */
  private visitWindows(lines: LineTable, span: Span, visit: (hash: number, line: number) => void): void {
    const { linesMin } = this.limits;
    const { hashes } = lines;
    let sum = 0;
    for (let line = span.from; line < span.to; line += 1) {
      sum = (Math.imul(sum, hashBase) + (hashes[line] as number)) | 0;
      const gone = line - linesMin;
      if (gone >= span.from) sum = (sum - Math.imul(hashes[gone] as number, this.topPower)) | 0;
      if (gone + 1 >= span.from) visit(sum, gone + 1);
    }
  }

  private dropOldest(): void {
    for (const id of this.texts.keys()) {
      if (this.size <= this.limits.sizeMax) return;
      this.forget(id);
    }
  }
}

type Span = { readonly from: number; readonly to: number };

function sizeOf({ lines }: SeenText): number {
  return lines.text.length + lines.count * lineSize;
}

/** Extends a match as far as the lines are the same. The run is empty if only the hashes agreed. */
function runFrom(lines: LineTable, line: number, position: LinePosition): SeenRun {
  const other = position.seen.lines;
  let length = 0;
  let numbersUp: number | null = null;
  while (isSameLine({ table: lines, line: line + length }, { table: other, line: position.line + length })) {
    const here = lines.numbers[line + length] as number;
    const up = here - (other.numbers[position.line + length] as number);
    // Lines without a number fit any difference.
    if (here >= 0 && numbersUp !== null && up !== numbersUp) break;
    if (here >= 0) numbersUp = up;
    length += 1;
  }
  const found = { from: line + 1, to: line + length, id: position.seen.id, otherFrom: position.line + 1 };
  return { ...found, number: firstNumber(lines, line, length), numbersUp: numbersUp ?? 0 };
}

/** The first printed number, if the numbers have no gap; otherwise null. */
function firstNumber({ numbers }: LineTable, line: number, length: number): number | null {
  const first = numbers[line] ?? -1;
  for (let at = 0; at < length; at += 1) {
    if (first < 0 || numbers[line + at] !== first + at) return null;
  }
  return first;
}

function charsOf({ starts, ends }: LineTable, from: number, to: number): number {
  return (ends[to - 1] as number) - (starts[from - 1] as number);
}

/**
 * Replaces each run by one line that refers to the earlier text. The reference uses printed line numbers if
 * there are any, and always the line of the earlier text where the run begins.
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
