import { coverage, hasName, hasNumber, type OriginalIndex } from "./acceptance-index.ts";
import type { Reason } from "./acceptance-reasons.ts";
import { isCode, isProse, readStatement, type Statement } from "./acceptance-text.ts";
import { isNegative, isStrongNegation, type MarkKind } from "./acceptance-words.ts";

/**
 * Words that tell a reader what to do. `Never`, `always` and `do not` bind at the start of a clause;
 * elsewhere they describe what happened. `Only` binds beside `may` and `can`.
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

/** Quoted messages do not bind the reader. */
const quoted = /"[^"\n]*"|“[^”\n]*”/g;
const bullet = /^\s*(?:[-*•>]|\d+[.)]|#{1,6})\s+/;

/** Whether a statement of prose binds its reader; `must` in source code does not. */
export function isConstraint({ text, words, marks }: Statement): boolean {
  if (words.length < 1 || text.length > 500 || !marks.some(({ kind }) => strengths[kind] !== undefined))
    return false;
  return binding.test(text.replace(bullet, "").replace(quoted, " ")) && isProse(text) && !isCode(text);
}

/** A longer original may bind to more, but a summary cannot repeat everything. */
const charsPerConstraint = 400;
const [constraintsMin, constraintsMax] = [3, 20] as const;

/** The strongest constraints in their order; among equals the first. */
export function rankConstraints(found: readonly Statement[], chars: number): readonly Statement[] {
  const max = Math.min(constraintsMax, Math.max(constraintsMin, Math.floor(chars / charsPerConstraint)));
  const ranked = found.map((statement, order) => ({ statement, order, strength: strengthOf(statement) }));
  ranked.sort((a, b) => b.strength - a.strength || a.order - b.order);
  const kept = ranked.slice(0, max).sort((a, b) => a.order - b.order);
  return kept.map(({ statement }) => statement);
}

function strengthOf({ marks, text }: Statement): number {
  let strength = /\bnever\b|\bNEVER\b|\bMUST\b/.test(text) ? 2 : 0;
  for (const kind of new Set(marks.map((mark) => mark.kind))) strength += strengths[kind] ?? 0;
  return strength;
}

/** Longer lines are about more than one thing. */
const lineCharsMax = 300;
const clauseEnd = /[,;:()–—]\s|\s(?:because|since|so that|so|but|as|and|otherwise)\s/;

type ConstrainedText = { readonly critical: readonly Statement[]; readonly index: OriginalIndex };

export function missingConstraints(
  original: ConstrainedText,
  statements: readonly Statement[],
  lines: readonly string[],
): readonly Reason[] {
  const verbatim = new Set(statements.map(({ text }) => text));
  const sought = original.critical.filter(({ text }) => !verbatim.has(text));
  // An extract has all of them verbatim.
  if (sought.length === 0) return [];
  // A summary may spread a constraint over statements, or put it into a clause.
  const clauses = statements.flatMap(({ text }) => text.split(clauseEnd));
  const texts = [...clauses, ...lines.filter((line) => line.length <= lineCharsMax)];
  const wholes = [...statements, ...texts.map(readStatement)];
  const missing = sought.filter((constraint) => !isKept(original.index, constraint, wholes));
  return missing.map(({ text }) => ({
    kind: "constraint-missing",
    piece: text,
    text: `The summary leaves out a constraint: ${text}`,
  }));
}

/** The share of a constraint, or of its binding clause, that a summary must repeat. */
const [wholeMin, coreMin] = [0.4, 0.5] as const;
/** Less is enough if the names of the clause are there. */
const coreWithNamesMin = 0.25;

function isKept(index: OriginalIndex, constraint: Statement, summary: readonly Statement[]): boolean {
  const clauses = constraint.text.split(clauseEnd).map(readStatement);
  const cores = clauses.filter(
    ({ words, marks }) => words.length > 0 && marks.some(({ kind }) => strengths[kind] !== undefined),
  );
  return summary.some((one) => {
    if (binds(one, constraint) && coverage(index, constraint, one) >= wholeMin) return true;
    return cores.some((core) => {
      const hasFacts =
        core.names.length + core.numbers.length > 0 && core.names.every((name) => hasName(one, name));
      const min = hasFacts ? coreWithNamesMin : coreMin;
      return binds(one, core) && coverage(index, { names: [], words: core.words }, one) >= min;
    });
  });
}

const restricting =
  /^(?:only|solely|exclusiv\w*|single|alone|just|restrict\w*|limit\w*|nothing|no|none|nobody|not|except|reserv\w*|never|one)$/;

/** Any negation keeps a negation. A duty may be stated as a fact, but not as a choice. */
function binds(one: Statement, { marks, numbers }: Statement): boolean {
  if (!numbers.every(({ value }) => hasNumber(one, value))) return false;
  const kinds = new Set(marks.map(({ kind }) => kind));
  if (kinds.has("negation"))
    return one.tokens.some(
      ({ word, mark }) => isStrongNegation(word) || isNegative(word) || mark === "negation",
    );
  if (kinds.has("only")) return one.tokens.some(({ word }) => restricting.test(word));
  const isChoice = one.marks.some(({ kind }) => kind === "option");
  return !isChoice || one.marks.some(({ kind }) => kind === "only");
}
