import { idsText } from "../render/index.ts";
import type { CommandAnswer } from "../session/index.ts";

/** Why blocks were left alone: what is said of several in the same words is one line that names them. */
export function leftAlone(skipped: CommandAnswer["skipped"]): readonly string[] {
  const same = new Map<string, number[]>();
  const times = countsOf(skipped.map(({ message }) => message));
  for (const { block, message } of skipped) {
    // What is said of several to the letter names none of them as itself: one of them is the reason for all.
    const isShared = (times.get(message) ?? 0) > 1;
    const words = isShared ? message : message.replace(new RegExp(`#${block}(?!\\d)`), blocksHere);
    same.set(words, [...(same.get(words) ?? []), block]);
  }
  return [...same].map(([words, blocks]) =>
    words.includes(blocksHere)
      ? words.replace(blocksHere, idsText(blocks, rangesMax))
      : `${idsText(blocks, rangesMax)}: ${words}`,
  );
}

/** No message has it: it is no character. */
const blocksHere = "\u0000";
const rangesMax = 8;

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
