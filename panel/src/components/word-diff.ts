import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";

/** A span of text that both sides have, or only one of them. */
export type DiffSpan = { readonly type: "same" | "added" | "removed"; readonly text: string };

/** Texts that differ in more words than this are shown one below the other. */
const editsMax = 600;

/** Compares two texts word by word. Null if they have too little in common for a readable diff. */
export function wordDiff(before: string, after: string): readonly DiffSpan[] | null {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: editsMax });
  if (changes === undefined) return null;
  const spans = changes.map(spanOf);
  const same = spans.filter(({ type }) => type === "same").reduce((sum, { text }) => sum + text.length, 0);
  return same * 4 < Math.min(before.length, after.length) ? null : spans.map(foldSpan);
}

const linesMax = 4_000;

/** Compares a text with a shorter form of it: word by word if that is readable, else line by line. */
export function diffWithShorter(whole: string, short: string): readonly DiffSpan[] | null {
  const words = wordDiff(whole, short);
  if (words !== null) return words;
  const lines = diffLines(whole, short, { maxEditLength: linesMax });
  return lines === undefined ? null : lines.map(spanOf).map(foldSpan);
}

function spanOf({ value, added, removed }: ChangeObject<string>): DiffSpan {
  return { type: added ? "added" : removed ? "removed" : "same", text: value };
}

const charsMax = 480;
const edgeChars = 160;
const foldedTexts = { same: "unchanged", removed: "removed", added: "" } as const;

/** Folds the middle of a long span that is unchanged or removed, and counts the hidden characters. */
function foldSpan({ type, text }: DiffSpan): DiffSpan {
  if (type === "added" || text.length <= charsMax) return { type, text };
  const hidden = text.length - 2 * edgeChars;
  const gap = `\n… ${hidden.toLocaleString("en")} characters ${foldedTexts[type]} …\n`;
  return { type, text: `${text.slice(0, edgeChars)}${gap}${text.slice(-edgeChars)}` };
}
