import type { Random } from "../../src/base/index.ts";
import { extract } from "../../src/levels/extract.ts";
import { type Damage, damages, namesOf, numbersOf } from "./acceptance-damage.ts";
import { handRecorded, handTexts } from "./acceptance-hand.ts";
import { holdoutRecorded, holdoutTexts } from "./acceptance-holdout.ts";
import { type Half, type LongText, longTexts, textThatStarts } from "./acceptance-recorded.ts";
import { reword } from "./acceptance-reword.ts";
import { type OwnText, ownTexts, type RecordedText } from "./acceptance-texts.ts";
import { unseenTexts } from "./acceptance-unseen.ts";

export type { Half } from "./acceptance-recorded.ts";

export type Faithful = {
  readonly how: "extract" | "reworded" | "by hand";
  readonly text: string;
  readonly lines: readonly string[];
};
export type Damaged = { readonly kind: string; readonly text: string; readonly lines: readonly string[] };

/** What an extract may keep of the tokens of its original, about four characters each. */
const shares = [0.3, 0.5] as const;

/** Summaries that say nothing wrong: extracts, the same in other words, and those written by hand. */
export function faithfulOnes(half: Half, random: Random): readonly Faithful[] {
  const recorded = longTexts(half).flatMap((source) =>
    shares.flatMap((share) => bothWays(source, share, random)),
  );
  return [...recorded, ...byHand(half)];
}

/** Much shorter than extracts, in the words of whoever wrote them. */
export function byHand(half: Half): readonly Faithful[] {
  const own = half === "tuned" ? [...ownTexts, ...handTexts] : [...unseenTexts, ...holdoutTexts];
  const recorded = half === "tuned" ? handRecorded : holdoutRecorded;
  return [...own, ...recorded.flatMap(textsThatStart)].flatMap(({ text, summaries }) =>
    summaries.map((summary) => ({ how: "by hand", text, lines: summary.split("\n") }) as const),
  );
}

/** None, where the session is not there. */
function textsThatStart({ session, starts, summaries }: RecordedText): readonly OwnText[] {
  const text = textThatStarts(session, starts);
  return text === null ? [] : [{ text, summaries }];
}

function bothWays(source: LongText, share: number, random: Random): readonly Faithful[] {
  const lines = extract(source, (source.text.length / 4) * share).split("\n");
  const sentences = lines.flatMap((line) => line.split(/ … |(?<=[.!?]) (?=[A-Z])/));
  return [
    { how: "extract", text: source.text, lines },
    { how: "reworded", text: source.text, lines: reword(sentences, random) },
  ];
}

/** So many of each kind in turn, each done to one of these summaries at random. */
export function damagedOnes(from: readonly Faithful[], count: number, random: Random): readonly Damaged[] {
  const kinds = Object.entries(damages);
  const made: Damaged[] = [];
  for (let at = 0; made.length < count; at += 1) {
    const [kind, damage] = kinds[at % kinds.length] as (typeof kinds)[number];
    const one = damagedOne(from, damage, random);
    if (one !== null) made.push({ kind, ...one });
  }
  return made;
}

/** Not every summary has what is to be damaged. */
const attempts = 200;

function damagedOne(from: readonly Faithful[], damage: Damage, random: Random): Omit<Damaged, "kind"> | null {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const { text, lines } = random.pick(from);
    const sentences = damage({ sentences: lines, numbers: numbersOf(text), names: namesOf(text) }, random);
    if (sentences !== null) return { text, lines: sentences };
  }
  return null;
}
