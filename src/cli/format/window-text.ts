import type { WindowRow } from "../../recorder/index.ts";
import { countedText, percentText, sizeText } from "./number-text.ts";

/** `142.3k / 200k (71 % used)`; `/ ?` if the window size is not known. */
export function windowText({ used, size, exact }: WindowRow): string {
  if (size === null) return unknownText({ used, exact });
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })} used)`;
}

function unknownText({ used, exact }: Pick<WindowRow, "used" | "exact">): string {
  return `${countedText(used, exact)} / ? (window unknown)`;
}

/** The same for a column whose heading already says "used". */
export function usedText({ used, size, exact }: WindowRow): string {
  if (size === null) return unknownText({ used, exact });
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })})`;
}

export function freeText({ free, exact }: WindowRow): string {
  return `free ${free === null ? "?" : countedText(free, exact)}`;
}

/** The tokens that the whole width of a strip stands for: the window, or the use if its size is not known. */
export function scaleOf({ used, size }: WindowRow): number {
  return size ?? used;
}
