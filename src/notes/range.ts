import type { PrunedRange } from "../awareness/index.ts";
import { safeText, shortened } from "./safe-text.ts";

/** The list of message ranges that are shown as nothing but placeholders. */
export type RangesNote = { readonly nonce: string; readonly ranges: readonly PrunedRange[] };

const reasonsMax = 5;
const reasonCharsMax = 80;
const rangesStart = "--- PRUNED MESSAGE RANGES --- | ";

export function rangeText(nonce: string, ranges: readonly PrunedRange[]): string {
  return writeRanges({ nonce, ranges: ranges.map((range) => shownRange(nonce, range)) });
}

/** The range with its reasons as a reader sees them: safe, distinct, few. */
function shownRange(nonce: string, range: PrunedRange): PrunedRange {
  const texts = range.reasons.map((reason) => shortened(safeText(reason, nonce), reasonCharsMax));
  const distinct = [...new Set(texts.filter((text) => text !== ""))];
  const more = distinct.length > reasonsMax ? [`+${distinct.length - reasonsMax} more`] : [];
  const shown = distinct.length === 0 ? ["no reason given"] : [...distinct.slice(0, reasonsMax), ...more];
  return { ...range, reasons: shown.flatMap((reason) => reason.split(", ")) };
}

export function writeRanges({ nonce, ranges }: RangesNote): string {
  const lines = ranges.map(
    ({ from, to, reasons, signatures }) =>
      `- Messages ID: ${from} to ${to} are PRUNED | Reasons: {${reasons.join(", ")}} | ` +
      `Thought Signatures Preserved: ${signatures}`,
  );
  return [`${rangesStart}${nonce}`, ...lines].join("\n");
}

export function readRangesNote(text: string): RangesNote | null {
  const [first = "", ...lines] = text.split("\n");
  const ranges = lines.map(readLine);
  if (!first.startsWith(rangesStart) || ranges.some((range) => range === null)) return null;
  return { nonce: first.slice(rangesStart.length), ranges: ranges.flatMap((range) => range ?? []) };
}

function readLine(line: string): PrunedRange | null {
  const found = rangeForm.exec(line);
  if (found === null) return null;
  const [, from, to, reasons = "", signatures] = found;
  return { from: Number(from), to: Number(to), reasons: reasons.split(", "), signatures: Number(signatures) };
}

const rangeForm =
  /^- Messages ID: (\d+) to (\d+) are PRUNED \| Reasons: \{([^}]*)\} \| Thought Signatures Preserved: (\d+)$/;
