const lineMarker = /^\[…(?:\d+(?: lines? left out(?:; numbers show where)?)?|\d+ more like ".*)\]$/;

/** The text that a trimmed text has in common with its original; pieces of long lines become lines. */
export function keptText(trimmed: string): string {
  const lines = trimmed.split("\n").filter((line) => !lineMarker.test(line));
  return lines.join("\n").replace(/\[…\d+ch\]/g, "\n");
}
