import { isCode, isProse } from "./acceptance-code.ts";
import type { Statement } from "./acceptance-statements.ts";
import type { MarkKind } from "./acceptance-words.ts";

/**
 * Words that tell somebody what to do or to leave. `Never`, `always` and `do not` bind where a sentence or a
 * clause begins with them; elsewhere they tell what happened. `Only` binds beside what is allowed.
 */
const binding =
  /\b(?:must|shall|mandatory|forbidden|prohibited|not allowed|should not|shouldn't|is required|are required)\b|(?:^|[,;:.—–(*] ?|\b(?:and|but|or|please|then) )[*_"'`-]*(?:never|always|do not|don't|only) \p{L}|\b(?:may|can|should|allowed) (?:\p{L}+ ){0,4}only\b|\bonly (?:\S+ ){1,4}(?:may|can|should)\b/iu;

const strengths: Readonly<Partial<Record<MarkKind, number>>> = {
  obligation: 3,
  negation: 2,
  always: 2,
  only: 2,
  exception: 1,
};

/** What somebody else says, such as a message, binds nobody here. */
const quoted = /"[^"\n]*"|“[^”\n]*”/g;
const bullet = /^\s*(?:[-*•>]|\d+[.)]|#{1,6})\s+/;

/** A constraint in words: source code says `must` too, but binds nobody who reads a summary. */
export function isCritical({ text, words, marks }: Statement): boolean {
  if (words.length < 1 || text.length > 500 || !marks.some(({ kind }) => strengths[kind] !== undefined))
    return false;
  return binding.test(text.replace(bullet, "").replace(quoted, " ")) && isProse(text) && !isCode(text);
}

/** Longer originals may bind to more; but a summary that must repeat everything is none. */
const charsEach = 400;
const [constraintsMin, constraintsMax] = [3, 20] as const;

/** The strongest, in their order; among equals the first. */
export function rankConstraints(found: readonly Statement[], chars: number): readonly Statement[] {
  const max = Math.min(constraintsMax, Math.max(constraintsMin, Math.floor(chars / charsEach)));
  const ranked = found.map((statement, order) => ({ statement, order, strength: strengthOf(statement) }));
  ranked.sort((a, b) => b.strength - a.strength || a.order - b.order);
  const kept = ranked.slice(0, max).sort((a, b) => a.order - b.order);
  return kept.map(({ statement }) => statement);
}

function strengthOf({ marks, text }: Statement): number {
  const kinds = new Set(marks.map(({ kind }) => kind));
  let strength = /\bnever\b|\bNEVER\b|\bMUST\b/.test(text) ? 2 : 0;
  for (const kind of kinds) strength += strengths[kind] ?? 0;
  return strength;
}
