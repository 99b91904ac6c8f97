import { contentText } from "../../protocols/index.ts";
import type { BlockRow } from "../../queries/answers/index.ts";
import type { ExportText } from "./collect-session.ts";
import type { ExportInfo } from "./jsonl.ts";
import { maskSecretText } from "./mask.ts";

type ReadableBlock = { readonly row: Pick<BlockRow, "kind" | "form">; readonly content: ExportText | null };

/**
 * The text of a block without its wire format, which jsonl keeps exactly. The text is masked again, because a
 * secret may only become visible without the wire format.
 */
export function readableText(
  { row, content }: ReadableBlock,
  { isMasked }: Pick<ExportInfo, "isMasked">,
): string {
  if (content === null) return "(no longer stored)";
  const { text, encoding } = content;
  if (encoding !== "utf-8") return text;
  const plain = contentText(Buffer.from(text), row) ?? "(only its model can read it)";
  return isMasked ? maskSecretText(plain) : plain;
}
