import { lastOwn } from "./acceptance-others-last.ts";
import { moreOwn, moreRecorded } from "./acceptance-others-more.ts";
import { othersOwn } from "./acceptance-others-own.ts";
import { othersRecorded } from "./acceptance-others-recorded.ts";
import { othersTwo } from "./acceptance-others-two.ts";
import { type Half, textThatStarts } from "./acceptance-recorded.ts";

/** What was done to a faithful summary: the kind, a piece of it, and what stands there instead. */
export type DoneTo = readonly [kind: string, from: string, to: string];
export type OtherCase = { readonly faithful: string; readonly damaged: readonly DoneTo[] };
export type OtherText = { readonly text: string; readonly cases: readonly OtherCase[] };
export type OtherRecorded = {
  readonly session: string;
  readonly starts: string;
  readonly cases: readonly OtherCase[];
};

/**
 * Summaries in many styles of test output, logs, code, data, diffs, decisions and rules, and what a careless
 * writer would make of them. They were written and divided before any was judged: every second text of each
 * list, the first included, was used to change the rules, the others only to report.
 */
export function otherTexts(half: Half): readonly OtherText[] {
  const isMine = (at: number): boolean => (at % 2 === 0) === (half === "tuned");
  const own = [...othersOwn, ...othersTwo].filter((_, at) => isMine(at));
  const recorded = othersRecorded.filter((_, at) => isMine(at));
  const more = half === "tuned" ? [...moreOwn, ...lastOwn, ...moreRecorded.flatMap(withText)] : [];
  return [...own, ...recorded.flatMap(withText), ...more];
}

/** None, where the session is not there. */
function withText({ session, starts, cases }: OtherRecorded): readonly OtherText[] {
  const text = textThatStarts(session, starts);
  return text === null ? [] : [{ text, cases }];
}

export function damagedBy(faithful: string, [kind, from, to]: DoneTo): string {
  if (!faithful.includes(from)) throw new Error(`There is no "${from}" to be damaged (${kind}).`);
  return faithful.replace(from, () => to);
}
