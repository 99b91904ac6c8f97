import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";

/** A stretch of a text that is on both sides, or on one. */
export type Stretch = { readonly type: "same" | "added" | "left"; readonly text: string };

/** Texts that differ in more words than these are shown one below the other. */
const editsMax = 600;

/** What of two texts is the same, word by word; null: too little of it to be worth showing so. */
export function wordDiff(before: string, after: string): readonly Stretch[] | null {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: editsMax });
  if (changes === undefined) return null;
  const stretches = changes.map(stretchOf);
  const same = stretches
    .filter(({ type }) => type === "same")
    .reduce((sum, { text }) => sum + text.length, 0);
  return same * 4 < Math.min(before.length, after.length) ? null : stretches.map(shortened);
}

const linesMax = 4_000;

/** A text and a shorter form of it: word by word where that can be read, else line by line. */
export function shortening(whole: string, short: string): readonly Stretch[] | null {
  const words = wordDiff(whole, short);
  if (words !== null) return words;
  const lines = diffLines(whole, short, { maxEditLength: linesMax });
  return lines === undefined ? null : lines.map(stretchOf).map(shortened);
}

function stretchOf({ value, added, removed }: ChangeObject<string>): Stretch {
  return { type: added ? "added" : removed ? "left" : "same", text: value };
}

const charsMax = 480;
const edgeChars = 160;
const gapWords = { same: "the same", left: "left out", added: "" } as const;

/** What both sides have in common, or only the longer one has, is shown as far as it says where it is. */
function shortened({ type, text }: Stretch): Stretch {
  if (type === "added" || text.length <= charsMax) return { type, text };
  const left = text.length - 2 * edgeChars;
  const gap = `\n… ${left.toLocaleString("en")} characters ${gapWords[type]} …\n`;
  return { type, text: `${text.slice(0, edgeChars)}${gap}${text.slice(-edgeChars)}` };
}
