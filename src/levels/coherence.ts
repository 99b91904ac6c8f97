import { reasonsAgainst } from "./acceptance/acceptance.ts";
import { clausesOf } from "./acceptance/acceptance-clauses.ts";
import { coverage, flatText, hasName, hasNumber, indexOriginal } from "./acceptance/acceptance-index.ts";
import type { Reason, ReasonKind } from "./acceptance/acceptance-reasons.ts";
import { type Statement, statementsOf, wordsOf } from "./acceptance/acceptance-text.ts";
import { isFiller, stemOf } from "./acceptance/acceptance-words.ts";

/** A difference between two texts: a sentence for people, and the piece it is about. */
export type Difference = {
  readonly kind: "fact-missing" | "constraint-missing" | "statement-missing" | "said-otherwise" | "too-long";
  readonly piece: string;
  readonly text: string;
};
export type CoverResult = { readonly covers: boolean; readonly reasons: readonly Difference[] };

const reasonsMax = 10;
/** Far more than memories have; comparing takes half a second by then. */
const comparedCharsMax = 80_000;

/**
 * Whether a new memory may replace an old one. It must have every number, path, name and quotation of the
 * old one for the same thing, the same negations and constraints, and every statement. It may add some. If in
 * doubt it may not, and both stay.
 */
export function covers(newText: string, oldText: string): CoverResult {
  if (newText.length + oldText.length > comparedCharsMax) {
    return { covers: false, reasons: [difference("too-long", String(comparedCharsMax))] };
  }
  const [after, before] = [distinct(newText), distinct(oldText)];
  const lost = [
    ...reasonsAgainst(newText, oldText)
      .filter((reason) => !isAboutAddition(reason, after, before))
      .flatMap(({ kind, piece }) => differenceFrom(kind, piece)),
    ...before.flatMap((one) => [
      ...exchangedFacts(one, after),
      ...exchangedWords(one, after),
      ...newExceptions(one, after),
      ...lostNegations(one, after),
    ]),
  ];
  const dropped = reasonsAgainst(oldText, newText).filter(({ kind }) => kind === "constraint-missing");
  const reasons = [
    ...lost,
    ...dropped.map(({ piece }) => difference("constraint-missing", piece)),
    ...(lost.length === 0 ? missingStatements(newText, oldText) : []),
  ];
  return { covers: reasons.length === 0, reasons: firstOf(reasons) };
}

/** Each difference once, and only the first few. */
export function firstOf(reasons: readonly Difference[]): readonly Difference[] {
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()].slice(0, reasonsMax);
}

export function distinct(text: string): readonly Statement[] {
  return [...new Map(statementsOf(text).map((one) => [one.text, one])).values()];
}

/**
 * The old text is judged as a summary of the new one: the new one must contain all of it. Additions are no
 * loss.
 */
const losses: Readonly<Partial<Record<ReasonKind, Difference["kind"]>>> = {
  "invented-number": "fact-missing",
  "invented-name": "fact-missing",
  "invented-quote": "fact-missing",
  "fact-elsewhere": "fact-missing",
  "quote-changed": "fact-missing",
  "unit-changed": "said-otherwise",
  "negation-added": "said-otherwise",
  "negation-lost": "said-otherwise",
  "constraint-lost": "said-otherwise",
  "outcome-turned": "said-otherwise",
};

function differenceFrom(kind: ReasonKind, piece: string): readonly Difference[] {
  const loss = losses[kind];
  return loss === undefined ? [] : [difference(loss, piece)];
}

/** Whether a new mark only affects additions: the words behind it are not in the old text. */
function isAboutAddition(
  { kind, piece }: Reason,
  after: readonly Statement[],
  before: readonly Statement[],
): boolean {
  if (kind !== "negation-lost" && kind !== "constraint-lost") return false;
  const old = new Set(before.flatMap(({ words }) => words));
  const marks = after.flatMap(({ marks, words }) =>
    marks
      .filter(({ word }) => word === piece)
      .map((mark) => ({ ...mark, behind: words.slice(mark.at, mark.at + 3) })),
  );
  return marks.every(
    (mark) =>
      mark.kind !== "exception" && mark.behind.length > 0 && !mark.behind.some((word) => old.has(word)),
  );
}

/** A name and its number, if the new text has both but in another order and among others. */
function exchangedFacts(one: Statement, after: readonly Statement[]): readonly Difference[] {
  const [name, number] = [one.names[0], one.numbers[0]];
  if (name === undefined || number === undefined || one.names.length + one.numbers.length > 2) return [];
  const having = after.filter((other) => hasName(other, name) && hasNumber(other, number.value));
  const isFirst = isBefore(one, name, number.written);
  const isKept = having.some(
    (other) =>
      other.names.length < 2 || other.numbers.length < 2 || isBefore(other, name, number.written) === isFirst,
  );
  return having.length === 0 || isKept ? [] : [difference("fact-missing", `${name} ${number.written}`)];
}

/** Words that a nearly equal statement replaces by another between the same neighbours. */
function exchangedWords(one: Statement, after: readonly Statement[]): readonly Difference[] {
  const alike = after.filter((other) => isAlike(one, other));
  const chain = wordsOf(one);
  const gone = chain.filter((word, at) => {
    const [left, , right] = between(chain, at);
    if (after.some((other) => standsIn(wordsOf(other), [left, word, right]))) return false;
    return alike.some((other) =>
      wordsOf(other).some((its, index, words) => {
        const [itsLeft, , itsRight] = between(words, index);
        return itsLeft === left && itsRight === right && isExchange(word, its) && !chain.includes(its);
      }),
    );
  });
  return gone.map((word) => difference("said-otherwise", word));
}

/** Clauses that were negated and are not any more. */
function lostNegations(one: Statement, after: readonly Statement[]): readonly Difference[] {
  const clauses = after.flatMap(clausesOf);
  return clausesOf(one).flatMap(({ negation, head }) => {
    const about = clauses.filter(({ keys }) => keys.has(head));
    if (negation === null || about.length === 0) return [];
    const isKept = about.some((its) => its.negation !== null || its.mild.length > 0);
    return isKept ? [] : [difference("said-otherwise", negation)];
  });
}

/** Exceptions that the old statement does not have. */
function newExceptions(one: Statement, after: readonly Statement[]): readonly Difference[] {
  const exceptions = ({ marks }: Statement) => marks.filter(({ kind }) => kind === "exception");
  const alike = after.filter((other) => isAlike(one, other));
  if (alike.some((other) => exceptions(other).length <= exceptions(one).length)) return [];
  return alike.flatMap(exceptions).map(({ word }) => difference("said-otherwise", word));
}

/** At the end of a statement, any neighbour will do. */
function standsIn(chain: readonly string[], [before, word, after]: Between): boolean {
  return chain.some(
    (one, at) =>
      one === word &&
      (before === "" || chain[at - 1] === before) &&
      (after === "" || chain[at + 1] === after),
  );
}

type Between = readonly [before: string, word: string, after: string];

function between(chain: readonly string[], at: number): Between {
  return [chain[at - 1] ?? "", chain[at] ?? "", chain[at + 1] ?? ""];
}

function isAlike(one: Statement, other: Statement): boolean {
  const [own, its] = [wordsOf(one), wordsOf(other)];
  return own.filter((word) => its.includes(word)).length >= sharedMin * own.length;
}

/** Small words may change, except those that reverse the meaning. */
const turning = new Set("on off in out up down before after over under".split(" "));

function isExchange(word: string, other: string): boolean {
  if (stemOf(word) === stemOf(other)) return false;
  const isSmall = isFiller(word) && isFiller(other);
  return !isSmall || (turning.has(word) && turning.has(other));
}

function isBefore(statement: Statement, name: string, number: string): boolean {
  const chain = wordsOf(statement);
  return chain.indexOf(name.toLowerCase()) < chain.indexOf(number.toLowerCase());
}

const sentences: Readonly<Record<Difference["kind"], (piece: string) => string>> = {
  "fact-missing": (piece) => `The new text does not have ${piece}, or not of the same thing.`,
  "constraint-missing": (piece) => `The new text leaves out a constraint: ${piece}`,
  "statement-missing": (piece) => `The new text does not say: ${piece}`,
  "too-long": (piece) => `Texts of more than ${piece} characters together are not compared.`,
  "said-otherwise": (piece) => `The two texts differ in "${piece}".`,
};

export function difference(kind: Difference["kind"], piece: string): Difference {
  const short = piece.length <= 160 ? piece : `${piece.slice(0, 159)}…`;
  return { kind, piece: short, text: sentences[kind](short) };
}

/** The share of a statement that another one, or all others together, must have. */
const [sharedMin, scatteredMin] = [0.6, 0.8] as const;

/** Finds missing statements by their words: they may have no number, name or constraint. */
function missingStatements(newText: string, oldText: string): readonly Difference[] {
  const index = indexOriginal(oldText);
  const { exact, statements: after } = indexOriginal(newText);
  const all = { words: after.flatMap(({ words }) => words) };
  const missing = index.statements.filter(
    (one) =>
      one.words.length > 0 &&
      !exact.has(flatText(one.text)) &&
      !after.some((other) => coverage(index, one, other) >= sharedMin) &&
      coverage(index, one, all) < scatteredMin,
  );
  return missing.map(({ text }) => difference("statement-missing", text));
}
