import { levels, type Shown } from "../engine/index.ts";
import { markedSize } from "./numbers.ts";

export type Lowered = {
  readonly block: number;
  readonly as: Shown;
  /** Of the original. */
  readonly tokens: number;
};

/** Behind the words of a block that is not shown whole: which it is, and how to get the rest. */
export function levelLine(nonce: string, { block, as, tokens }: Lowered): string {
  const how = as === "placeholder" ? "pruned" : as;
  return `[${nonce} #${block} ${how}, whole ${markedSize(tokens, false)} -> expand #${block}]`;
}

/** Whether less is shown at the one than at the other; what is pruned shows least. */
export function isLower(as: Shown, than: Shown): boolean {
  return depth(as) > depth(than);
}

function depth(as: Shown): number {
  return as === "placeholder" || as === "absent" ? levels.length : levels.indexOf(as);
}
