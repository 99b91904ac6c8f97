/**
 * Recognises a line of ours where a model repeats it, also as a quotation or as code. All of them carry the
 * nonce at a fixed place; the same words without it are content.
 */
export function isOwnLine(line: string, nonce: string): boolean {
  const text = line.replace(/^[\s>`*]+|[\s`*]+$/g, "");
  if (text.startsWith(`[${nonce} `)) return text.endsWith("]");
  if (text.startsWith("[Part ID: ")) return text.endsWith(` | ${nonce}]`);
  if (text.startsWith("--- Message ID: ")) return text.endsWith(` | ${nonce} ---`);
  return fixedStarts.some((start) => text === `${start}${nonce}` || text.startsWith(`${start}${nonce} `));
}

const fixedStarts = [
  "--- PRUNED MESSAGE RANGES --- | ",
  "[CONTEXT MANIFEST ",
  "### CONTEXT MANIFEST ",
  "<context-manifest mark=",
] as const;

/** Lines that follow one of ours and have no nonce themselves: the body of a manifest, the list of ranges. */
export function continuesOwnLine(line: string): boolean {
  return /^\s*(?:- )?(?:\*\*)?(?:PRIMACY |MIDDLE |RECENCY[ :]|COLD |EXPIRING |CANDIDATES |SINCE LAST TURN: |BUDGET |\[user-selected\] |PRUNED |Messages ID: |<\/context-manifest>)/.test(
    line,
  );
}
