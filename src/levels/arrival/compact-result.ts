import { stripTerminalControl } from "./terminal-control.ts";

/**
 * Shortens a new tool result without loss: removes terminal control (colours, overwritten progress) and
 * collapses lines that repeat the line above. Returns the same string if there is nothing to remove.
 *
 * Trailing blanks and empty lines stay: they are content of a file, and an edit of that file must match them.
 */
export function compactResult(text: string, mark = ""): string {
  return collapseRepeats(stripTerminalControl(text), mark);
}

/** The words of the line that replaces repeated lines. */
const repeatWords = "the line above stands here";

/** The mark is the nonce of our notes, which content cannot imitate. */
function repeatLine(times: number, mark: string): string {
  return `[${mark === "" ? "" : `${mark} `}${repeatWords} ${times} times]`;
}

function collapseRepeats(text: string, mark: string): string {
  // A text that contains these words is left alone: a reader could not tell its lines from ours.
  const mayCollapse = !text.includes(repeatWords);
  const parts: string[] = [];
  let copied = 0;
  let at = 0;
  while (mayCollapse && at < text.length) {
    const end = lineEnd(text, at);
    const times = countRepeats(text, at, end);
    const after = at + times * (end + 1 - at);
    const line = times > 2 ? repeatLine(times, mark) : "";
    if (times > 2 && after - end - 1 > line.length + 1) {
      parts.push(text.slice(copied, end + 1), line);
      copied = after - 1;
    }
    at = after;
  }
  if (parts.length === 0) return text;
  parts.push(text.slice(copied));
  return parts.join("");
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Counts how often the line from `from` to `end` is repeated without a gap. */
function countRepeats(text: string, from: number, end: number): number {
  const step = end + 1 - from;
  let times = 1;
  // Comparing the first character rules out most other lines.
  for (let at = end + 1; at < text.length && text.charCodeAt(at) === text.charCodeAt(from); at += step) {
    if (lineEnd(text, at) !== at + step - 1) break;
    if (text.slice(at, at + step - 1) !== text.slice(from, end)) break;
    times += 1;
  }
  return times;
}
