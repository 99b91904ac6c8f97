import type { Reason } from "./acceptance-facts.ts";
import type { OriginalIndex } from "./acceptance-index.ts";
import type { Statement } from "./acceptance-statements.ts";
import { unitOf } from "./acceptance-words.ts";

// A number or name that was taken out leaves its sentence with a gap, which needs no original to be seen:
// "failed in because", "took minutes", "( , 12 MB)".

const openers = new Set(
  "the a an of from with at into between under than via per by in about roughly since because".split(" "),
);
const closers = new Set(
  "and or is was were are has must because but until should cannot did does of from with for to at in by under".split(
    " ",
  ),
);
/** Words that ask for a number where a unit follows. */
const counting = new Set(
  `after for of in at about every under within over to takes took take needs need than most least by costs cost is
  was are only roughly`.split(/\s+/),
);
const openEnd =
  /(?<!`)``(?!`)|\b(?:the|an|of|from|into|between|than|via|per)\s*(?=[.,;:)]|$)|(?:^|\s)\(\s*[,;)]|,\s*,/i;

/** A sign that nothing stands in front of, or a bracket where a name should be. */
const apartSign =
  /^[:;,](?=\s)|\p{L}+ [.:;,)](?=\s|$)|\( \p{L}+|\b(?:in|with|of|from|into|by|to|the) \((?!\d)\S+|[.;:]\s*,/iu;

/** What nobody writes: each is a hole that a number or name has left. */
const holes: readonly RegExp[] = [
  // Who is it that was corrected?
  /^(?:[-*•] )?(?:is|are|was|were|has|had|:\d)\b|^(?:may|can|does|did) /,
  /[(,]\s*\)|\(\s*["'] ?["']\)|\b(?:and|or)\s*[),;]/,
  /\p{L}=\s(?![=\s])|(?<![\p{L}\p{N}])–\d/u,
  // "2 of tests", but "2 of the tests" and "2 of eight".
  /\b\d+ of (?!the|an?\b|th(?:em|ese|ose|is|at)|us\b|its|our|their|all|which|two|three|four|five|six|seven|eight)\p{Ll}{3,}/u,
  /\b(?:fewer than|at most|at least) (?!th(?:at|is)\b)\p{Ll}+s\b/u,
];

/** Words that stand side by side and cannot, unless the original has them so. */
export function gapsIn({ neighbours, flat }: OriginalIndex, { chain, text }: Statement): readonly Reason[] {
  const gaps = chain.flatMap((word, at) => {
    const next = chain[at + 1];
    if (next === undefined || neighbours.has(`${word} ${next}`)) return [];
    const isBound = next === "at" && /^(?:most|least)$/.test(chain[at + 2] ?? "");
    const isOpen = openers.has(word) && closers.has(next) && !isBound && !isApart(text, word, next);
    const isUncounted = counting.has(word) && (next.length > 1 || next === "s") && unitOf(next) !== null;
    return isOpen || isUncounted ? [`${word} ${next}`] : [];
  });
  const end = openEnd.exec(text)?.[0].toLowerCase().trim();
  if (end !== undefined && !flat.includes(`${end}.`) && !flat.includes(`${end},`)) gaps.push(end);
  const apart = apartSign.exec(text)?.[0].toLowerCase().trim();
  if (apart !== undefined && !flat.includes(apart) && !flat.includes(` ${apart} `)) gaps.push(apart);
  const hollow = holes.flatMap((hole) => hole.exec(text)?.[0].toLowerCase().trim() ?? []);
  gaps.push(...hollow.filter((hole) => !flat.includes(hole)));
  return gaps.map((gap) => ({
    kind: "fact-lost",
    piece: gap,
    text: `The summary misses something at "${gap}": ${text}`,
  }));
}

/** With a sign between them they belong to two clauses, and "of the" begins what "in" needs. */
function isApart(text: string, word: string, next: string): boolean {
  return (
    !new RegExp(`\\b${word} +${next}\\b`, "i").test(text) ||
    /^(?:from|in|by|since|because) (?:at|in|with|of|to|by|for|from|under)$/.test(`${word} ${next}`)
  );
}
