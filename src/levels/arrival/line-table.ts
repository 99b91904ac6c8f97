/**
 * The lines of a text, prepared for comparison: start and end of each, the line number that a file read
 * printed before it, and a hash of the rest. Flat arrays for speed, because every new result is read.
 */
export type LineTable = {
  readonly text: string;
  readonly count: number;
  readonly starts: Int32Array;
  /** The position after the printed number; the start if there is none. */
  readonly bodies: Int32Array;
  /** The position of the line break. */
  readonly ends: Int32Array;
  /** The printed number, or -1. */
  readonly numbers: Int32Array;
  /** Hash of the body of each line. */
  readonly hashes: Int32Array;
};

const blank = 0x20;
const tab = 0x09;
const newline = 0x0a;
const zero = 0x30;
const nine = 0x39;
const arrow = 0x2192;

/** A longer number is not a line number. */
const digitsMax = 7;
const noNumber = -1;

export function readLineTable(text: string): LineTable {
  const count = countLines(text);
  const table = {
    text,
    count,
    starts: new Int32Array(count),
    bodies: new Int32Array(count),
    ends: new Int32Array(count),
    numbers: new Int32Array(count).fill(noNumber),
    hashes: new Int32Array(count),
  };
  let at = 0;
  for (let line = 0; line < count; line += 1) at = readLine(table, line, at) + 1;
  return table;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Fills in one line and returns its end. */
function readLine(table: LineTable, line: number, start: number): number {
  const { text } = table;
  const body = readNumber(table, line, start);
  let hash = 0x811c9dc5 | 0;
  let at = body;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === newline) break;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  table.starts[line] = start;
  table.bodies[line] = body;
  table.ends[line] = at;
  table.hashes[line] = hash;
  return at;
}

/** Reads the blanks, digits and arrow or tab that file reads print. Returns where the body begins. */
function readNumber({ text, numbers }: LineTable, line: number, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === blank) at += 1;
  let number = 0;
  const firstDigit = at;
  for (; at - firstDigit < digitsMax; at += 1) {
    const code = text.charCodeAt(at);
    if (!(code >= zero && code <= nine)) break;
    number = number * 10 + code - zero;
  }
  const code = text.charCodeAt(at);
  const isNumber = at > firstDigit && (at === firstDigit + 1 || text.charCodeAt(firstDigit) !== zero);
  if (!isNumber || (code !== arrow && code !== tab)) return start;
  numbers[line] = number;
  return at + 1;
}

export type LineRef = { readonly table: LineTable; readonly line: number };

/**
 * Whether two lines have the same body, and print their numbers with the same padding and separator: then the
 * number alone is enough to write the first line from the second.
 */
export function isSameLine(here: LineRef, there: LineRef): boolean {
  const [a, b] = [here.table, there.table];
  if (here.line >= a.count || there.line >= b.count) return false;
  if (a.hashes[here.line] !== b.hashes[there.line]) return false;
  const [bodyA, bodyB] = [a.bodies[here.line] as number, b.bodies[there.line] as number];
  const isSameBody = a.text.slice(bodyA, a.ends[here.line]) === b.text.slice(bodyB, b.ends[there.line]);
  return isSameBody && isSameNumberFormat(here, there);
}

function isSameNumberFormat({ table: a, line: lineA }: LineRef, { table: b, line: lineB }: LineRef): boolean {
  const [numberA, numberB] = [a.numbers[lineA] as number, b.numbers[lineB] as number];
  if (numberA < 0 || numberB < 0) return numberA === numberB;
  const [endA, endB] = [(a.bodies[lineA] as number) - 1, (b.bodies[lineB] as number) - 1];
  if (a.text.charCodeAt(endA) !== b.text.charCodeAt(endB)) return false;
  const startB = b.starts[lineB] as number;
  const width = b.text.charCodeAt(startB) === blank ? endB - startB : 0;
  return endA - (a.starts[lineA] as number) === Math.max(width, String(numberA).length);
}
