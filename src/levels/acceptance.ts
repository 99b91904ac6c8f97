import { isStillBound } from "./acceptance-bounds.ts";
import { isCode } from "./acceptance-code.ts";
import {
  additions,
  type Compared,
  complaintsAbout,
  coverage,
  hasName,
  hasNumber,
} from "./acceptance-compare.ts";
import { cutOut, inventedIn, isKnownName, type Reason } from "./acceptance-facts.ts";
import { gapsIn } from "./acceptance-gaps.ts";
import { type Candidate, nearest, numberKey, Original, type OriginalIndex } from "./acceptance-index.ts";
import { lostInClauses, turnedClauses } from "./acceptance-negations.ts";
import { isKnownNumber } from "./acceptance-numbers.ts";
import { misplacedFacts } from "./acceptance-places.ts";
import { readStatement, type Statement, statementsOf } from "./acceptance-statements.ts";
import { tokensOf } from "./acceptance-tokens.ts";
import { turnedNumbers } from "./acceptance-turned.ts";
import type { MarkKind } from "./acceptance-words.ts";

export type Judgement = { readonly accepted: boolean; readonly reasons: readonly Reason[] };

/** A user reads a few; more only say the same. */
const reasonsMax = 20;

/**
 * Whether a summary may stand for its original. It may leave out, but it must not say anything else: no fact
 * that is not there, no number with another unit or about something else, nothing negated, bound or failed
 * that was not; and what binds must be in it. Whoever wrote it, this is decided by comparing words.
 */
export function judge(original: string, summary: string): Judgement {
  return judgeOf(new Original(original), summary);
}

export function judgeOf(original: Original, summary: string): Judgement {
  const reasons = reasonsOf(original, summary);
  return { accepted: reasons.length === 0, reasons: reasons.slice(0, reasonsMax) };
}

/** All of them, each once. */
export function reasonsAgainst(original: string, summary: string): readonly Reason[] {
  return reasonsOf(new Original(original), summary);
}

function reasonsOf(original: Original, summary: string): readonly Reason[] {
  // A summary is not broken for its length, and its lines often end without a sign.
  const lines = summary.split("\n");
  const statements = lines.flatMap((line) => statementsOf(line));
  const reasons = [
    ...statements.flatMap((one) => judgeStatement(original, one, statements)),
    ...missingConstraints(original, statements, lines),
    ...missingNames(original, statements),
  ];
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()];
}

/** Longer lines say too much at once to be about one thing. */
const wholeCharsMax = 300;

function judgeStatement(
  original: Original,
  one: Statement,
  summary: readonly Statement[],
): readonly Reason[] {
  // What stands there word by word can only be right.
  if (original.says(one)) return [];
  if (isCode(one.text)) return [changedCode(one)];
  const { index } = original;
  const invented = inventedIn(index, one);
  return invented.length > 0 ? invented : compareWithNearest(index, one, summary);
}

/** Code and numbered lines are quoted or left out; nobody puts them in other words. */
function changedCode({ text }: Statement): Reason {
  return {
    kind: "quote-changed",
    piece: text,
    text: `The original does not have this line as it is here: ${text}`,
  };
}

/** A summary joins statements: what is left of it when the nearest is taken away is compared with others. */
const roundsMax = 4;
/** Less in common than this is chance. */
const shareMin = 0.3;
/** Candidates that are as near as the nearest: any of them may be the one that was meant. */
const asNear = 0.85;

function compareWithNearest(
  index: OriginalIndex,
  one: Statement,
  summary: readonly Statement[],
): readonly Reason[] {
  const rest = new Set(keysOf(one));
  const reasons: Reason[] = [
    ...misplacedFacts(index, one),
    ...turnedNumbers(index, one),
    ...turnedClauses(index, one),
    ...lostInClauses(index, one, factsIn(summary)),
    ...cutOut(index, one),
    ...gapsIn(index, one),
  ];
  const met: Statement[] = [];
  for (let round = 0; round < roundsMax && rest.size > 0; round += 1) {
    const found = nearest(index, rest);
    const top = found[0];
    if (top === undefined || (top.ofSummary < shareMin && top.ofOriginal < shareMin)) break;
    const group = found.filter(({ shared }) => shared >= asNear * top.shared);
    const meant = meantBy({ index, one, summary }, group);
    reasons.push(...meant.reasons);
    met.push(meant.statement);
    for (const key of keysOf(meant.statement)) rest.delete(key);
    // A number alone leads to a statement about something else.
    for (const { value } of one.numbers) rest.delete(numberKey(value));
  }
  return [...reasons, ...additions(index, one, met)];
}

/** The numbers and names of a summary, written out ones too. */
function factsIn(summary: readonly Statement[]): ReadonlySet<string> {
  return new Set(
    summary.flatMap((one) => [
      ...one.names.map((name) => name.toLowerCase()),
      ...one.numbers.map(({ value }) => numberKey(value)),
      ...one.spelled.map(numberKey),
    ]),
  );
}

function keysOf({ words, numbers }: Statement): readonly string[] {
  return [...words, ...numbers.map(({ value }) => numberKey(value))];
}

type Meant = { readonly statement: Statement; readonly reasons: readonly Reason[] };

/** Of several that are as near, the one that the statement contradicts least. */
function meantBy(compared: Omit<Compared, "other">, group: readonly Candidate[]): Meant {
  const { index, one } = compared;
  const all = group.map(({ statement }) => {
    const reasons = complaintsAbout({ ...compared, other: statement });
    return { statement, reasons, doubts: reasons.length + additions(index, one, [statement]).length };
  });
  return all.reduce((best, next) => (next.doubts < best.doubts ? next : best));
}

function missingConstraints(
  original: Original,
  statements: readonly Statement[],
  lines: readonly string[],
): readonly Reason[] {
  const said = new Set(statements.map(({ text }) => text));
  const sought = original.critical.filter(({ text }) => !said.has(text));
  // An extract has all of them as they are, and is not read once more.
  if (sought.length === 0) return [];
  // What one statement begins the next may end: what binds is looked for in clauses and in whole lines, too.
  const wholes = [
    ...statements,
    ...statements.flatMap(({ text }) => text.split(clauseEnd)).map(readStatement),
    ...lines.filter((line) => line.length <= wholeCharsMax).map(readStatement),
  ];
  const lost = sought.filter((constraint) => !isKept(original.index, constraint, wholes));
  return lost.map(({ text }) => ({
    kind: "constraint-missing",
    piece: text,
    text: `The summary leaves out what binds: ${text}`,
  }));
}

/** A summary without a single fact of an original that repeats names is about something else. */
function missingNames(original: Original, statements: readonly Statement[]): readonly Reason[] {
  const [main] = original.mainNames;
  if (main === undefined) return [];
  const isNamed = statements.some(
    (one) =>
      one.names.some((name) => original.mainNames.includes(name)) ||
      (one.names.length + one.numbers.length > 0 && original.says(one)) ||
      one.names.some((name) => isKnownName(original.index, name)) ||
      one.numbers.some((number) => isKnownNumber(original.index, number)),
  );
  if (isNamed) return [];
  const text = `The summary names none of what the original is about, such as ${main}.`;
  return [{ kind: "names-missing", piece: main, text }];
}

/** So much of what stands around a binding word, or of the whole, makes a constraint known again. */
const [coreMin, wholeMin] = [0.6, 0.5] as const;
/** Where its numbers and names are said too, less will do. */
const boundMin = 0.3;

function isKept(index: OriginalIndex, constraint: Statement, summary: readonly Statement[]): boolean {
  const cores = coresOf(constraint);
  return summary.some((statement) => {
    if (binds(statement, constraint) && hasNumbers(statement, constraint)) {
      if (coverage(index, constraint, statement) >= wholeMin) return true;
    }
    return cores.some(
      (core) =>
        binds(statement, core) &&
        hasNumbers(statement, core) &&
        coverage(index, { names: [], words: core.words }, statement) >=
          (hasFacts(statement, core) ? boundMin : coreMin),
    );
  });
}

function hasFacts(statement: Statement, { names, numbers }: Statement): boolean {
  return names.length + numbers.length > 0 && names.every((name) => hasName(statement, name));
}

function hasNumbers(statement: Statement, { numbers }: Pick<Statement, "numbers">): boolean {
  return numbers.every(({ value }) => hasNumber(statement, value));
}

/** A negation is still one, in whatever words; what must be done may be said as it is, but is no choice. */
function binds(statement: Statement, constraint: Pick<Statement, "marks">): boolean {
  const kinds = new Set(constraint.marks.map(({ kind }) => kind));
  if (kinds.has("negation")) return tokensOf(statement).some(({ isNegative }) => isNegative);
  if (kinds.has("only")) return isStillBound(statement, "only");
  const isChoice = statement.marks.some(({ kind }) => kind === "option");
  return !isChoice || statement.marks.some(({ kind }) => kind === "only");
}

const clauseEnd = /[,;:()–—]\s|\s(?:because|since|so that|so|but|as|and|otherwise)\s/;

/** The clauses that bind, without what is said beside it: the reason, the exception, the other half. */
function coresOf(constraint: Statement): readonly Statement[] {
  const clauses = constraint.text.split(clauseEnd).map(readStatement);
  return clauses.filter(
    ({ words, marks }) => words.length > 0 && marks.some(({ kind }) => bindingKinds.has(kind)),
  );
}

const bindingKinds: ReadonlySet<MarkKind> = new Set([
  "negation",
  "obligation",
  "always",
  "only",
  "exception",
]);
