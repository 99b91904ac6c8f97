// What a program wrote for a screen, as the screen showed it in the end. Only real control characters count:
// an escape that is spelled with a backslash, as in source code, is text like any other.

const escapeSign = "\u001b";

/** Colours, modes and titles: seen, not read. Each part stops at the next escape, so this is linear. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b(?:\[[0-?]*[ -/]*[hlmnqt]|\](?!8;)[^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-B]|[=>78])/g;

/** A link: its address is content, and is told behind the words that carried it. */
const link =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]*)(?:\u0007|\u001b\\)([^\u001b]*)\u001b\]8;;(?:\u0007|\u001b\\)/g;

/** What moves the cursor or erases: a parameter, and a letter. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
const moves = /\u001b\[([0-9;]*)([ABCDEFGHJKf])|\u0008/g;

export function withoutScreenControl(text: string): string {
  const hasEscape = text.includes(escapeSign);
  if (!hasEscape && !text.includes("\u0008") && !text.includes("\r")) return text;
  const plain = hasEscape ? text.replace(unseen, "").replace(link, linkText) : text;
  const calm = plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
  const drawn = isMoving(calm) ? new Screen().draw(calm) : calm;
  return drawn === text ? text : withoutPadding(drawn);
}

function linkText(_all: string, address: string, words: string): string {
  return words === address ? words : `${words} <${address}>`;
}

function isMoving(text: string): boolean {
  return text.includes("\u0008") || text.search(moves) >= 0;
}

/** On a screen, blanks to the right and more than one empty line are only the ground it was drawn on. */
function withoutPadding(text: string): string {
  const lines = text.split("\n").map(withoutEndBlanks);
  return lines.filter((line, at) => line !== "" || lines[at - 1] !== "" || at === 0).join("\n");
}

/** By hand: a pattern for what stands at the end takes quadratic time on a line of blanks. */
function withoutEndBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end -= 1;
  return line.slice(0, end);
}

/**
 * A line that was written over with carriage returns: only its last state stays. A return between two texts
 * that are not states of one thing stays as it is: it may be the line end of an old file.
 */
function lastState(line: string): string {
  const at = line.indexOf("\r");
  if (at < 0 || at === line.length - 1) return line;
  const ends = line.endsWith("\r") ? "\r" : "";
  const states = line.slice(0, line.length - ends.length).split("\r");
  const kept: string[] = [];
  for (const state of states) {
    const before = kept.at(-1);
    if (state === "" && before !== undefined) continue;
    if (before !== undefined && isOverwritten(before, state)) kept.pop();
    kept.push(state);
  }
  return kept.join("\r") + ends;
}

const erasing = [`${escapeSign}[K`, `${escapeSign}[0K`, `${escapeSign}[2K`, `${escapeSign}[J`] as const;

function isOverwritten(before: string, after: string): boolean {
  if (before.trim() === "" || erasing.some((erase) => after.startsWith(erase) || before.endsWith(erase))) {
    return true;
  }
  return shapeOf(before) === shapeOf(after) || (isProgress(before) && isProgress(after));
}

/** Far enough to know a line of progress by. */
const shapeChars = 200;

/** The words that a state of progress begins with: they stay while numbers, bars and spinners change. */
function shapeOf(state: string): string {
  const words = state.slice(0, shapeChars).match(/\p{L}+/gu) ?? [];
  return words.slice(0, 2).join(" ");
}

/** A share of the whole, a bar, or the signs that spinners are made of. */
function isProgress(state: string): boolean {
  return /\d%|[#=━─█▏▎▍▌▋▊▉░▒▓.]{3}|[⠀-⣿◐◓◑◒]|\d\s*\/\s*\d/u.test(state.slice(0, shapeChars));
}

/** No screen is wider; longer lines can be written, but nobody moves about in them. */
const columnsMax = 1_000;

/** Rows of text and a cursor: as much of a terminal as programs need that redraw a few lines. */
class Screen {
  /** Rows above belong to what was cleared away: they stay, because nothing is lost here. */
  private base = 0;
  private row = 0;
  private column = 0;
  private rows: string[][] = [[]];

  draw(text: string): string {
    let written = 0;
    for (const { 0: all, 1: parameter = "", 2: letter = "", index } of text.matchAll(moves)) {
      this.write(text.slice(written, index));
      this.move(letter, parameter === "" ? null : Number.parseInt(parameter, 10));
      written = index + all.length;
    }
    this.write(text.slice(written));
    return this.rows.map((row) => Array.from(row, (sign) => sign ?? " ").join("")).join("\n");
  }

  private write(text: string): void {
    for (const sign of text) {
      if (sign === "\n") this.newLine();
      else {
        this.current()[this.column] = sign;
        this.column += 1;
      }
    }
  }

  private move(letter: string, parameter: number | null): void {
    // What a program asks for may be any number.
    const steps = Math.min(parameter === null || Number.isNaN(parameter) ? 1 : parameter, columnsMax);
    if (letter === "" || letter === "D") this.column = Math.max(0, this.column - Math.max(1, steps));
    else if (letter === "C") this.column = Math.max(this.column, Math.min(this.column + steps, columnsMax));
    else if (letter === "G") this.column = Math.max(0, steps - 1);
    else if (letter === "K") this.eraseLine(parameter ?? 0);
    else if (letter === "J") this.eraseBelow(parameter ?? 0);
    else if (letter === "H" || letter === "f") this.startAnew();
    else this.moveRows(letter, steps);
  }

  private moveRows(letter: string, steps: number): void {
    if (letter === "E" || letter === "F") this.column = 0;
    const isUp = letter === "A" || letter === "F";
    // Down never leads below the last row: only a new line makes one.
    this.row = isUp
      ? Math.max(this.base, this.row - steps)
      : Math.min(this.rows.length - 1, this.row + steps);
  }

  private newLine(): void {
    this.row += 1;
    this.column = 0;
    if (this.row === this.rows.length) this.rows.push([]);
  }

  private current(): string[] {
    return this.rows[this.row] as string[];
  }

  private eraseLine(what: number): void {
    const row = this.current();
    if (what === 2) row.length = 0;
    else if (what === 0) row.length = Math.min(row.length, this.column);
    else row.fill(" ", 0, Math.min(this.column + 1, columnsMax));
  }

  private eraseBelow(what: number): void {
    if (what !== 0) this.startAnew();
    else {
      this.eraseLine(0);
      this.rows.length = this.row + 1;
    }
  }

  /** A cleared screen begins below what was there. */
  private startAnew(): void {
    if (this.rows.length - 1 > this.base || this.current().length > 0) this.rows.push([]);
    this.base = this.rows.length - 1;
    this.row = this.base;
    this.column = 0;
  }
}
