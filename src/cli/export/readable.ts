import { type BlockRow, storedWords } from "../../session/index.ts";
import type { Text } from "./collected.ts";
import type { Written } from "./jsonl.ts";
import { masked } from "./mask.ts";

type Said = { readonly row: Pick<BlockRow, "kind">; readonly content: Text | null };

/**
 * What a block says, without the form it is sent in: that is for programs, and jsonl has it exactly. A secret
 * may come to light only when that form is taken off, so it is looked for once more.
 */
export function readable({ row, content }: Said, { isMasked }: Pick<Written, "isMasked">): string {
  if (content === null) return "(not stored any more)";
  const { text, encoding } = content;
  if (encoding !== "utf-8") return text;
  const words = storedWords(Buffer.from(text), row.kind) ?? "(only its model can read it)";
  return isMasked ? masked(words) : words;
}
