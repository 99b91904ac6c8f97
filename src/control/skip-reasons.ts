import type { CommandAnswer } from "../execute/index.ts";
import { idsText } from "../notes/index.ts";

/** The reasons why blocks were skipped; blocks with the same reason share a line that names them. */
export function skipReasons(skipped: CommandAnswer["skipped"]): readonly string[] {
  const blocksByReason = new Map<string, number[]>();
  const times = countsOf(skipped.map(({ message }) => message));
  for (const { block, message } of skipped) {
    // A message shared by several blocks to the letter names the one block that is the reason for all.
    const isShared = (times.get(message) ?? 0) > 1;
    const reason = isShared ? message : message.replace(new RegExp(`#${block}(?!\\d)`), blocksSlot);
    blocksByReason.set(reason, [...(blocksByReason.get(reason) ?? []), block]);
  }
  return [...blocksByReason].map(([reason, blocks]) =>
    reason.includes(blocksSlot)
      ? reason.replace(blocksSlot, idsText(blocks, rangesMax))
      : `${idsText(blocks, rangesMax)}: ${reason}`,
  );
}

/** A stand-in for block numbers that occurs in no message. */
const blocksSlot = "\u0000";
const rangesMax = 8;

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
