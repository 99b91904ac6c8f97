import { withoutScreenControl } from "./arrival-screen.ts";

/**
 * A tool result as it is first shown, without what loses nothing: control of a screen (colours, progress that
 * was overwritten) and lines that repeat the one above them. The same string if there is nothing of that.
 *
 * Blanks at the end of a line and empty lines stay where the text was not drawn on a screen: of a file they
 * are content, and who edits it must know them.
 */
export function atArrival(text: string, mark = ""): string {
  return withoutRepeats(withoutScreenControl(text), mark);
}

/** The words of the line that stands for repeated ones. */
const repeatWords = "the line above stands here";

/** With a mark it has the form of all lines of ours, and content cannot have it. */
function repeatLine(times: number, mark: string): string {
  return `[${mark === "" ? "" : `${mark} `}${repeatWords} ${times} times]`;
}

function withoutRepeats(text: string, mark: string): string {
  // A text that speaks of such lines keeps its own: a reader could not tell them apart.
  const mayHide = !text.includes(repeatWords);
  const parts: string[] = [];
  let taken = 0;
  let at = 0;
  while (mayHide && at < text.length) {
    const end = lineEnd(text, at);
    const times = timesFrom(text, at, end);
    const after = at + times * (end + 1 - at);
    const line = times > 2 ? repeatLine(times, mark) : "";
    if (times > 2 && after - end - 1 > line.length + 1) {
      parts.push(text.slice(taken, end + 1), line);
      taken = after - 1;
    }
    at = after;
  }
  if (parts.length === 0) return text;
  parts.push(text.slice(taken));
  return parts.join("");
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** How often the line between the two places stands there, one below the other. */
function timesFrom(text: string, from: number, end: number): number {
  const step = end + 1 - from;
  let times = 1;
  // The first sign tells almost always that the next line is another one.
  for (let at = end + 1; at < text.length && text.charCodeAt(at) === text.charCodeAt(from); at += step) {
    if (lineEnd(text, at) !== at + step - 1) break;
    if (text.slice(at, at + step - 1) !== text.slice(from, end)) break;
    times += 1;
  }
  return times;
}
