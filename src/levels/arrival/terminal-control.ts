// Removes colours from terminal output, and all states of a progress line but the last. Text that moves the
// cursor stays as it is: rendering it would need a terminal emulator and could hide content. Only real
// control characters count: an escape spelled with a backslash, as in source code, is plain text.

const escapeChar = "\u001b";

/** Colours, modes and titles: they carry no text. Each part stops at the next escape, so this is linear. */
const styling =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b(?:\[[0-?]*[ -/]*[hlmnqt]|\](?!8;)[^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-B]|[=>78])/g;

/** A link: its address is content, and is written after the link text. */
const link =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]*)(?:\u0007|\u001b\\)([^\u001b]*)\u001b\]8;;(?:\u0007|\u001b\\)/g;

/** Sequences that move the cursor to another line, or back in its line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
const cursorMove = /\u001b\[[0-9;]*[ABCDEFGHJf]|\u0008/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
const erasure = /\u001b\[[0-2]?K/g;

export function stripTerminalControl(text: string): string {
  const hasEscape = text.includes(escapeChar);
  if (!hasEscape && !text.includes("\r")) return text;
  const plain = hasEscape ? text.replace(styling, "").replace(link, linkText) : text;
  if (cursorMove.test(plain)) return plain;
  const last = plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
  // Without cursor moves, `lastState` has already dropped the erased text, so the sequence can go.
  return hasEscape ? last.replace(erasure, "") : last;
}

function linkText(_match: string, address: string, words: string): string {
  return words === address ? words : `${words} <${address}>`;
}

/**
 * Keeps only the last state of a line that a program overwrote with carriage returns. A return between texts
 * that are not states of one progress line stays: it may be a line end of an old file.
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

const eraseSequences = [
  `${escapeChar}[K`,
  `${escapeChar}[0K`,
  `${escapeChar}[2K`,
  `${escapeChar}[J`,
] as const;

function isOverwritten(before: string, after: string): boolean {
  if (
    before.trim() === "" ||
    eraseSequences.some((erase) => after.startsWith(erase) || before.endsWith(erase))
  ) {
    return true;
  }
  return isSameCounter(before, after) || (isProgress(before) && isProgress(after));
}

/** Progress is recognised in this many characters of a line. */
const shapeChars = 200;

/** Whether both states begin with the same words before a number, as in "Counting objects: 12". */
function isSameCounter(before: string, after: string): boolean {
  const at = before.slice(0, shapeChars).search(/: *\d/);
  return at > 0 && before.slice(0, at + 1) === after.slice(0, at + 1) && /^ *\d/.test(after.slice(at + 1));
}

/** Whether a state has a percentage, a bar, a spinner character or a fraction. */
function isProgress(state: string): boolean {
  return /\d%|[#=━─█▏▎▍▌▋▊▉░▒▓.]{3}|[⠀-⣿◐◓◑◒]|\d\s*\/\s*\d/u.test(state.slice(0, shapeChars));
}
