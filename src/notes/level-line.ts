import { levels, type Shown } from "../engine/frames/index.ts";
import { readSize, roundTokens, sizePattern, writeSize } from "./sizes-and-ids.ts";

/** The line after a block that is shown shortened. */
export type LevelNote = {
  readonly nonce: string;
  readonly block: number;
  readonly as: Shown;
  /** The estimated size of the original. */
  readonly tokens: number;
};

export type LoweredBlock = Omit<LevelNote, "nonce">;

/** `[k7f3 #12 trimmed, whole ~4.2k -> expand #12]` */
export function levelLine(nonce: string, { block, as, tokens }: LoweredBlock): string {
  const how = as === "placeholder" ? "pruned" : as;
  return `[${nonce} #${block} ${how}, whole ${writeSize({ tokens, exact: false })} -> expand #${block}]`;
}

export function readLevelLine(text: string): LevelNote | null {
  const [, nonce = "", block, how, size = ""] = levelForm.exec(text) ?? [];
  const read = readSize(size);
  if (read === null) return null;
  const as = how === "pruned" ? "placeholder" : (how as Shown);
  return { nonce, block: Number(block), as, tokens: roundTokens(read.tokens) };
}

const levelForm = new RegExp(`^\\[(\\w+) #(\\d+) ([a-z]+), whole (${sizePattern}) -> expand #\\2\\]$`);

/** Whether the first form shows less than the second; a placeholder shows least. */
export function isLower(as: Shown, than: Shown): boolean {
  return depth(as) > depth(than);
}

function depth(as: Shown): number {
  return as === "placeholder" || as === "absent" ? levels.length : levels.indexOf(as);
}
