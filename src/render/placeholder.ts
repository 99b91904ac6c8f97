import { cutText } from "../base/index.ts";
import { boundedStart, boundedTokens } from "./bound.ts";
import { type HeaderBlock, type HeaderMark, type HeaderMode, kindWord, partFields } from "./header.ts";
import { markedSize } from "./numbers.ts";
import { safeText, shortened } from "./safe-text.ts";

export type Pruned = {
  readonly block: HeaderBlock;
  /** Why it was pruned, in the words of whoever did it. */
  readonly reason: string | null;
  /** The short gist, see `hintOf`; empty: none. */
  readonly hint: string;
  /** False where the content is gone for good or must not be sent any more. */
  readonly isKept?: boolean;
};

/** A gist, not a summary: enough to know whether it is worth expanding. */
export const hintTokensMax = 24;
const reasonCharsMax = 120;

/**
 * The line that stands for a pruned block: which it was, why it went, its gist, and how to get it back.
 * `see` names the block that shows it again, where there is one.
 */
export function placeholder(
  header: HeaderMark & { readonly mode: HeaderMode },
  pruned: Pruned,
  see: number | null = null,
): string {
  const { nonce, mode } = header;
  const { block } = pruned;
  const reason = shortened(safeText(pruned.reason ?? "", nonce), reasonCharsMax) || "no reason given";
  const hint = safeText(pruned.hint, nonce);
  const back = wayBack(pruned, see);
  if (mode === "full") {
    const gist = hint === "" ? [] : [`Hint: "${hint}"`];
    const fields = [...partFields(block), "PRUNED", `Reason: ${reason}`, ...gist, back, nonce];
    return `[${fields.join(" | ")}]`;
  }
  const size = markedSize(block.tokens, block.exact);
  const gist = hint === "" ? "" : `: "${hint}"`;
  return `[${nonce} #${block.block} ${kindWord(block.kind)} ${size} pruned (${reason})${gist} -> ${back}]`;
}

function wayBack({ block, isKept = true }: Pruned, see: number | null): string {
  if (see !== null) return `see #${see}`;
  return isKept ? `expand #${block.block}` : "cannot be expanded";
}

/** More than 24 tokens, and far less than a large result. */
const hintCharsMax = 400;

/** The beginning of a text in one line of at most 24 tokens, cut by code point. */
export function hintOf(text: string): string {
  const start = cutText(text.trimStart(), hintCharsMax);
  const line = start
    .trimEnd()
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, "\\n")
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  const isWhole = start.length === text.trimStart().length;
  if (isWhole && boundedTokens(line) <= hintTokensMax) return line;
  // The sign for what is left out has three bytes.
  const kept = boundedStart(line, hintTokensMax - 3).replace(/\\$/, "");
  return kept === "" ? "" : `${kept}…`;
}
