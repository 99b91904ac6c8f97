import { cutText } from "../base/index.ts";
import { boundedStart, boundedTokens } from "./bound.ts";
import {
  type HeaderBlock,
  type HeaderMark,
  type HeaderMode,
  kindWord,
  type PartFields,
  partForm,
  partOf,
  readTokens,
  writePart,
} from "./header.ts";
import { safeText, shortened } from "./safe-text.ts";
import { readSize, roundSize, type Size, sizePattern, writeSize } from "./sizes-and-ids.ts";

/** A block that is not sent, as the ledger knows it when it writes the placeholder. */
export type PrunedBlock = {
  readonly block: HeaderBlock;
  /** Why it was pruned, as the actor said. */
  readonly reason: string | null;
  /** The short gist, see `hintOf`; empty if there is none. */
  readonly hint: string;
  /** False if the content was erased or must not be sent. */
  readonly isKept?: boolean;
};

/** The line that stands for a pruned block: its id, the reason, its gist, and how to get it back. */
export type PlaceholderNote = {
  readonly nonce: string;
  readonly block: number;
  readonly reason: string;
  readonly hint: string;
  readonly back: WayBack;
} & (
  | { readonly mode: "compact"; readonly kind: string; readonly size: Size }
  | ({ readonly mode: "full" } & Pick<PartFields, "kind" | "size">)
);

/** Expand: the original can be shown. A number: that block shows it again. */
export type WayBack = "expand" | "none" | number;

/** A gist, not a summary: enough to know whether the block is worth expanding. */
export const hintTokensMax = 24;
const reasonCharsMax = 120;

/** `see` is the block that shows the content again, if there is one. */
export function placeholder(
  header: HeaderMark & { readonly mode: HeaderMode },
  pruned: PrunedBlock,
  see: number | null = null,
): string {
  const { nonce, mode } = header;
  const { block, isKept = true } = pruned;
  const shared = {
    nonce,
    block: block.block,
    reason: shortened(safeText(pruned.reason ?? "", nonce), reasonCharsMax) || "no reason given",
    hint: safeText(pruned.hint, nonce),
    back: see ?? (isKept ? "expand" : "none"),
  } as const;
  return mode === "full"
    ? writePlaceholder({ ...shared, ...partOf(block), mode })
    : writePlaceholder({ ...shared, mode: "compact", kind: kindWord(block.kind), size: roundSize(block) });
}

/**
 * `[k7f3 #43 result ~4.2k pruned (setup done): "npm install..." -> expand #43]`
 * `[Part ID: 43 | Type: tool-result | Tokens: ~4210 | PRUNED | Reason: done | Hint: "x" | expand #43 | k7f3]`
 */
export function writePlaceholder(note: PlaceholderNote): string {
  const { nonce, block, reason, hint, size } = note;
  const back = writeBack(note);
  if (note.mode === "full") {
    const gist = hint === "" ? [] : [`Hint: "${hint}"`];
    const fields = [...writePart(note), "PRUNED", `Reason: ${reason}`, ...gist, back, nonce];
    return `[${fields.join(" | ")}]`;
  }
  const gist = hint === "" ? "" : `: "${hint}"`;
  return `[${nonce} #${block} ${note.kind} ${writeSize(size)} pruned (${reason})${gist} -> ${back}]`;
}

export function readPlaceholder(text: string): PlaceholderNote | null {
  return readCompact(text) ?? readFull(text);
}

const backForm = "(expand #\\d+|see #\\d+|cannot be expanded)";
const compactForm = new RegExp(
  `^\\[(\\w+) #(\\d+) ([a-z-]+) (${sizePattern}) pruned \\((.*)\\)(?:: "([^"]*)")? -> ${backForm}\\]$`,
);
const fullForm = new RegExp(
  `^\\[${partForm} \\| PRUNED \\| Reason: ([^|]*)(?: \\| Hint: "([^"]*)")? \\| ${backForm} \\| (\\w+)\\]$`,
);

function readCompact(text: string): PlaceholderNote | null {
  const [, nonce = "", block, kind = "", size = "", reason = "", hint = "", back = ""] =
    compactForm.exec(text) ?? [];
  const read = readSize(size);
  if (read === null) return null;
  return {
    mode: "compact",
    nonce,
    block: Number(block),
    kind,
    size: read,
    reason,
    hint,
    back: readBack(back),
  };
}

function readFull(text: string): PlaceholderNote | null {
  const found = fullForm.exec(text);
  if (found === null) return null;
  const [, block, kind, tokens = "", reason = "", hint = "", back = "", nonce = ""] = found;
  const part = { block: Number(block), kind: kind as PartFields["kind"], size: readTokens(tokens) };
  return { mode: "full", ...part, nonce, reason, hint, back: readBack(back) };
}

function writeBack({ block, back }: PlaceholderNote): string {
  if (typeof back === "number") return `see #${back}`;
  return back === "expand" ? `expand #${block}` : "cannot be expanded";
}

function readBack(text: string): WayBack {
  const [, see] = /^see #(\d+)$/.exec(text) ?? [];
  if (see !== undefined) return Number(see);
  return text.startsWith("expand ") ? "expand" : "none";
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
  // An ellipsis has three bytes.
  const kept = boundedStart(line, hintTokensMax - 3).replace(/\\$/, "");
  return kept === "" ? "" : `${kept}…`;
}
