import { isTainting } from "../../commands/index.ts";
import { spokenIn } from "../../protocols/index.ts";
import type { SentUnit } from "../desk-port.ts";

/** Whether content that nobody vouches for, new in a request, speaks the language of commands. */
export function isTaintedBy(fresh: readonly SentUnit[], nonce: string): boolean {
  return fresh.some((unit) => isUntrusted(unit) && isTainting(wordsOf(unit, nonce), nonce));
}

/** Of what a turn has sent anew, what was not said before: another place or form makes nothing new. */
export function saidFirst(fresh: readonly SentUnit[], turn: number): readonly SentUnit[] {
  return fresh.filter(({ numbered }) => numbered !== null && numbered.turn >= turn);
}

function isUntrusted({ numbered }: SentUnit): boolean {
  return numbered?.kind === "tool-result" || numbered?.kind === "media";
}

/** Of a result that we have written, lines with the mark are ours: content was shown without it. */
function wordsOf({ bytes, origin }: SentUnit, nonce: string): string {
  const spoken = spokenIn(bytes);
  const text = spoken === null || spoken.type === "call" ? "" : spoken.text;
  if (origin !== "aperture") return text;
  return text
    .split("\n")
    .filter((line) => !line.includes(nonce))
    .join("\n");
}
