import type { WindowRow } from "../../session/index.ts";
import { countedText, percentText, sizeText } from "./numbers.ts";

/** `142.3k / 200k (71 % used)`, always of what is used; `/ ?` where nobody knows how much fits. */
export function windowText({ used, size, exact }: WindowRow): string {
  if (size === null) return unknownText({ used, exact });
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })} used)`;
}

function unknownText({ used, exact }: Pick<WindowRow, "used" | "exact">): string {
  return `${countedText(used, exact)} / ? (window unknown)`;
}

/** The same for a column that says in its heading that it is about what is used. */
export function usedText({ used, size, exact }: WindowRow): string {
  if (size === null) return unknownText({ used, exact });
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })})`;
}

export function freeText({ free, exact }: WindowRow): string {
  return `free ${free === null ? "?" : countedText(free, exact)}`;
}

/** What the whole width of a strip stands for: the window, or what is used where nobody knows its size. */
export function scaleOf({ used, size }: WindowRow): number {
  return size ?? used;
}
