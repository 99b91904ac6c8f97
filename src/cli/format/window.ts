import type { WindowRow } from "../../session/index.ts";
import { countedText, percentText, sizeText } from "./numbers.ts";

/** `142.3k / 200k (71 % used)`; tokens and percent are always of what is used. */
export function windowText({ used, size, exact }: WindowRow): string {
  if (size <= 0) return `${countedText(used, exact)} / ?`;
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })} used)`;
}

/** The same for a column that says in its heading that it is about what is used. */
export function usedText({ used, size, exact }: WindowRow): string {
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })})`;
}

export function freeText({ free, exact }: WindowRow): string {
  return `free ${countedText(free, exact)}`;
}
