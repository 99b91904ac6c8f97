/**
 * Recognises a line of our notes that a model repeats, also quoted or as code. All our lines have the nonce
 * at a fixed position; the same words without it are content.
 */
export function isOwnLine(line: string, nonce: string): boolean {
  // A quick test first: every line of every answer is checked, and almost none has the nonce.
  if (!line.includes(nonce)) return false;
  const text = unquoted(line);
  if (text.startsWith(`[${nonce} `)) return text.endsWith("]");
  if (text.startsWith("[Part ID: ")) return text.endsWith(` | ${nonce}]`);
  if (text.startsWith("--- Message ID: ")) return text.endsWith(` | ${nonce} ---`);
  return fixedStarts.some((start) => text === `${start}${nonce}` || text.startsWith(`${start}${nonce} `));
}

const quoting = " \t\r\n>`*";

/** Without a pattern: one for trailing characters takes quadratic time on a line of blanks. */
function unquoted(line: string): string {
  let [start, end] = [0, line.length];
  while (start < end && quoting.includes(line.charAt(start))) start += 1;
  while (end > start && quoting.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

const fixedStarts = [
  "--- PRUNED MESSAGE RANGES --- | ",
  "[CONTEXT MANIFEST ",
  "### CONTEXT MANIFEST ",
  "<context-manifest mark=",
] as const;

const continuations = [
  "PRIMACY ",
  "MIDDLE ",
  "RECENCY ",
  "RECENCY: ",
  "COLD ",
  "[user-selected] ",
  "NAMES ",
  "EXPIRING ",
  "CANDIDATES ",
  "PRUNED ",
  "SINCE LAST TURN: ",
  "BUDGET ",
  "Messages ID: ",
  "</context-manifest>",
] as const;

/** Whether a line of ours is the first of several: of a manifest, or of a list of ranges. */
export function opensOwnLines(line: string): boolean {
  return fixedStarts.some((start) => unquoted(line).startsWith(start));
}

/** Lines that follow one of ours and have no nonce themselves: the body of a manifest, the list of ranges. */
export function continuesOwnLine(line: string): boolean {
  const text = line.trimStart();
  const row = text.startsWith("- ") ? text.slice(2) : text;
  return continuations.some((start) => row.startsWith(start));
}

/** Finds our lines, each with the rows that directly follow it. */
export function ownLines(lines: readonly string[], isOwnLine: (line: string) => boolean): readonly string[] {
  let mayContinue = false;
  return lines.filter((line) => {
    const isFirst = isOwnLine(line);
    mayContinue = isFirst ? opensOwnLines(line) : mayContinue && continuesOwnLine(line);
    return isFirst || mayContinue;
  });
}
