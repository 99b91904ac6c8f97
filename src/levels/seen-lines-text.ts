/**
 * The lines of a text, ready to be compared: where each begins and ends, the number that a file read printed
 * in front of it, and a hash of what follows the number. Flat arrays, because every new result passes here.
 */
export type LinedText = {
  readonly text: string;
  readonly count: number;
  /** Where the line begins, and behind its number where it has one. */
  readonly starts: Int32Array;
  readonly bodies: Int32Array;
  /** Without the line break. */
  readonly ends: Int32Array;
  /** The printed number; -1 where there is none. */
  readonly numbers: Int32Array;
  readonly hashes: Int32Array;
};

const blank = 0x20;
const tab = 0x09;
const newline = 0x0a;
const zero = 0x30;
const nine = 0x39;
const arrow = 0x2192;

/** More digits are no line number. */
const digitsMax = 7;
const noNumber = -1;

export function linedText(text: string): LinedText {
  const count = countLines(text);
  const lined = {
    text,
    count,
    starts: new Int32Array(count),
    bodies: new Int32Array(count),
    ends: new Int32Array(count),
    numbers: new Int32Array(count).fill(noNumber),
    hashes: new Int32Array(count),
  };
  let at = 0;
  for (let line = 0; line < count; line += 1) at = readLine(lined, line, at) + 1;
  return lined;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Fills in one line and tells where it ends. */
function readLine(lined: LinedText, line: number, start: number): number {
  const { text } = lined;
  const body = readNumber(lined, line, start);
  let hash = 0x811c9dc5 | 0;
  let at = body;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === newline) break;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  lined.starts[line] = start;
  lined.bodies[line] = body;
  lined.ends[line] = at;
  lined.hashes[line] = hash;
  return at;
}

/** Blanks, digits, and an arrow or a tab, as file reads print them; tells where the line itself begins. */
function readNumber({ text, numbers }: LinedText, line: number, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === blank) at += 1;
  let number = 0;
  const first = at;
  for (; at - first < digitsMax; at += 1) {
    const code = text.charCodeAt(at);
    if (!(code >= zero && code <= nine)) break;
    number = number * 10 + code - zero;
  }
  const code = text.charCodeAt(at);
  const isWritten = at > first && (at === first + 1 || text.charCodeAt(first) !== zero);
  if (!isWritten || (code !== arrow && code !== tab)) return start;
  numbers[line] = number;
  return at + 1;
}

export type LineAt = { readonly lined: LinedText; readonly line: number };

/**
 * Whether the first line is the second one, but for its printed number; and if that is another, whether it
 * stands in front as it would in the second text, so that nothing but the number has to be told.
 */
export function isSameLine(here: LineAt, there: LineAt): boolean {
  const [a, b] = [here.lined, there.lined];
  if (here.line >= a.count || there.line >= b.count) return false;
  if (a.hashes[here.line] !== b.hashes[there.line]) return false;
  const [bodyA, bodyB] = [a.bodies[here.line] as number, b.bodies[there.line] as number];
  const isSameBody = a.text.slice(bodyA, a.ends[here.line]) === b.text.slice(bodyB, b.ends[there.line]);
  return isSameBody && isSameFront(here, there);
}

function isSameFront({ lined: a, line: lineA }: LineAt, { lined: b, line: lineB }: LineAt): boolean {
  const [numberA, numberB] = [a.numbers[lineA] as number, b.numbers[lineB] as number];
  if (numberA < 0 || numberB < 0) return numberA === numberB;
  const [endA, endB] = [(a.bodies[lineA] as number) - 1, (b.bodies[lineB] as number) - 1];
  if (a.text.charCodeAt(endA) !== b.text.charCodeAt(endB)) return false;
  const startB = b.starts[lineB] as number;
  const width = b.text.charCodeAt(startB) === blank ? endB - startB : 0;
  return endA - (a.starts[lineA] as number) === Math.max(width, String(numberA).length);
}
