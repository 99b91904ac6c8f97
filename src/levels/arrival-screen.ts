// What a program wrote for a screen, without colours and with the last state of a line of progress. What
// moves the cursor about stays as it is: drawing it would take a terminal, and hides more than it saves. Only
// real control characters count: an escape that is spelled with a backslash, as in source code, is text like
// any other.

const escapeSign = "\u001b";

/** Colours, modes and titles: seen, not read. Each part stops at the next escape, so this is linear. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b(?:\[[0-?]*[ -/]*[hlmnqt]|\](?!8;)[^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-B]|[=>78])/g;

/** A link: its address is content, and is told behind the words that carried it. */
const link =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
  /\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]*)(?:\u0007|\u001b\\)([^\u001b]*)\u001b\]8;;(?:\u0007|\u001b\\)/g;

/** What moves the cursor to another line, or back in this one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
const moves = /\u001b\[[0-9;]*[ABCDEFGHJf]|\u0008/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters it looks for
const erasure = /\u001b\[[0-2]?K/g;

export function withoutScreenControl(text: string): string {
  const hasEscape = text.includes(escapeSign);
  if (!hasEscape && !text.includes("\r")) return text;
  const plain = hasEscape ? text.replace(unseen, "").replace(link, linkText) : text;
  if (moves.test(plain)) return plain;
  const last = plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
  // Where nothing moves but along its line, what was erased is gone and the erasing says nothing.
  return hasEscape ? last.replace(erasure, "") : last;
}

function linkText(_all: string, address: string, words: string): string {
  return words === address ? words : `${words} <${address}>`;
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
  return isCounting(before, after) || (isProgress(before) && isProgress(after));
}

/** Far enough to know a line of progress by. */
const shapeChars = 200;

/** The same words up to a number, as of something that is counted. */
function isCounting(before: string, after: string): boolean {
  const at = before.slice(0, shapeChars).search(/: *\d/);
  return at > 0 && before.slice(0, at + 1) === after.slice(0, at + 1) && /^ *\d/.test(after.slice(at + 1));
}

/** A share of the whole, a bar, or the signs that spinners are made of. */
function isProgress(state: string): boolean {
  return /\d%|[#=━─█▏▎▍▌▋▊▉░▒▓.]{3}|[⠀-⣿◐◓◑◒]|\d\s*\/\s*\d/u.test(state.slice(0, shapeChars));
}
