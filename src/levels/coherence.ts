import { reasonsAgainst } from "./acceptance.ts";
import { coverage, hasName, hasNumber } from "./acceptance-compare.ts";
import type { Reason, ReasonKind } from "./acceptance-facts.ts";
import { flatText, indexOriginal } from "./acceptance-index.ts";
import { clausesOf } from "./acceptance-negations.ts";
import { type Statement, statementsOf } from "./acceptance-statements.ts";
import { isFiller, stemOf } from "./acceptance-words.ts";

/** What one text lacks of another, or says otherwise: a sentence for people, and the piece it is about. */
export type Difference = {
  readonly kind: "fact-missing" | "constraint-missing" | "statement-missing" | "said-otherwise" | "too-long";
  readonly piece: string;
  readonly text: string;
};
export type Covered = { readonly covers: boolean; readonly reasons: readonly Difference[] };

const reasonsMax = 10;
/** Far more than memories have; comparing takes half a second by then. */
const comparedCharsMax = 80_000;

/**
 * Whether a new memory may take the place of an old one: every number, path, name and quotation of the old
 * one is in it and said of the same, nothing is negated or bound otherwise, what binds still does, and no
 * statement is gone. It may say more. In doubt it covers not: then both stay.
 */
export function covers(newText: string, oldText: string): Covered {
  if (newText.length + oldText.length > comparedCharsMax) {
    return { covers: false, reasons: [difference("too-long", String(comparedCharsMax))] };
  }
  const [said, told] = [distinct(newText), distinct(oldText)];
  const lost = [
    ...reasonsAgainst(newText, oldText)
      .filter((reason) => !isAbout(reason, said, told))
      .flatMap(({ kind, piece }) => differenceFrom(kind, piece)),
    ...told.flatMap((one) => [
      ...exchangedFacts(one, said),
      ...exchangedWords(one, said),
      ...newExceptions(one, said),
      ...unnegated(one, said),
    ]),
  ];
  const unbound = reasonsAgainst(oldText, newText).filter(({ kind }) => kind === "constraint-missing");
  const reasons = [
    ...lost,
    ...unbound.map(({ piece }) => difference("constraint-missing", piece)),
    ...(lost.length === 0 ? missingStatements(newText, oldText) : []),
  ];
  return { covers: reasons.length === 0, reasons: firstOf(reasons) };
}

/** Each once; people read a few. */
export function firstOf(reasons: readonly Difference[]): readonly Difference[] {
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()].slice(0, reasonsMax);
}

export function distinct(text: string): readonly Statement[] {
  return [...new Map(statementsOf(text).map((one) => [one.text, one])).values()];
}

/**
 * The old text is judged as if it were a summary of the new one, which must have all that it says. What the
 * new one has besides is no loss.
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

/** Whether a mark that the old text lacks binds only what the new one adds: nothing behind it is old. */
function isAbout({ kind, piece }: Reason, said: readonly Statement[], told: readonly Statement[]): boolean {
  if (kind !== "negation-lost" && kind !== "constraint-lost") return false;
  const old = new Set(told.flatMap(({ words }) => words));
  const marks = said.flatMap(({ marks, words }) =>
    marks
      .filter(({ word }) => word === piece)
      .map((mark) => ({ ...mark, behind: words.slice(mark.at, mark.at + 3) })),
  );
  return marks.every(
    (mark) =>
      mark.kind !== "exception" && mark.behind.length > 0 && !mark.behind.some((word) => old.has(word)),
  );
}

/** The number of a name, where the new text has both but puts others between them, or turns them round. */
function exchangedFacts(one: Statement, said: readonly Statement[]): readonly Difference[] {
  const [name, number] = [one.names[0], one.numbers[0]];
  if (name === undefined || number === undefined || one.names.length + one.numbers.length > 2) return [];
  const having = said.filter((other) => hasName(other, name) && hasNumber(other, number.value));
  const isFirst = isBefore(one, name, number.written);
  const isKept = having.some(
    (other) =>
      other.names.length < 2 || other.numbers.length < 2 || isBefore(other, name, number.written) === isFirst,
  );
  return having.length === 0 || isKept ? [] : [difference("fact-missing", `${name} ${number.written}`)];
}

/** Another word between the same neighbours, in a statement that is the same but for a few. */
function exchangedWords(one: Statement, said: readonly Statement[]): readonly Difference[] {
  const alike = said.filter((other) => isAlike(one, other));
  const gone = one.chain.filter((word, at) => {
    const [before, , after] = between(one.chain, at);
    if (said.some(({ chain }) => standsIn(chain, [before, word, after]))) return false;
    return alike.some(({ chain }) =>
      chain.some((other, index) => {
        const [left, , right] = between(chain, index);
        return left === before && right === after && isExchange(word, other) && !one.chain.includes(other);
      }),
    );
  });
  return gone.map((word) => difference("said-otherwise", word));
}

/** What was negated and is said without a negation. */
function unnegated(one: Statement, said: readonly Statement[]): readonly Difference[] {
  const clauses = said.flatMap(clausesOf);
  return clausesOf(one).flatMap(({ negation, head }) => {
    const about = clauses.filter(({ keys }) => keys.has(head));
    if (negation === null || about.length === 0) return [];
    const isKept = about.some((its) => its.negation !== null || its.mild.length > 0);
    return isKept ? [] : [difference("said-otherwise", negation)];
  });
}

/** What held always and now does but for something. */
function newExceptions(one: Statement, said: readonly Statement[]): readonly Difference[] {
  const exceptions = ({ marks }: Statement) => marks.filter(({ kind }) => kind === "exception");
  const alike = said.filter((other) => isAlike(one, other));
  if (alike.some((other) => exceptions(other).length <= exceptions(one).length)) return [];
  return alike.flatMap(exceptions).map(({ word }) => difference("said-otherwise", word));
}

/** At an end of its own statement, a word may go on elsewhere. */
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
  const shared = one.chain.filter((word) => other.chain.includes(word));
  return shared.length >= saidMin * one.chain.length;
}

/** Small words may come and go, but for those that turn what is said. */
const turning = new Set("on off in out up down before after over under".split(" "));

function isExchange(word: string, other: string): boolean {
  if (stemOf(word) === stemOf(other)) return false;
  const isSmall = isFiller(word) && isFiller(other);
  return !isSmall || (turning.has(word) && turning.has(other));
}

function isBefore({ chain }: Statement, name: string, number: string): boolean {
  return chain.indexOf(name.toLowerCase()) < chain.indexOf(number.toLowerCase());
}

const sentences: Readonly<Record<Difference["kind"], (piece: string) => string>> = {
  "fact-missing": (piece) => `The new text does not have ${piece}, or not of the same thing.`,
  "constraint-missing": (piece) => `The new text leaves out what binds: ${piece}`,
  "statement-missing": (piece) => `The new text does not say: ${piece}`,
  "too-long": (piece) => `Texts of more than ${piece} characters together are not compared.`,
  "said-otherwise": (piece) => `The two texts differ in "${piece}".`,
};

export function difference(kind: Difference["kind"], piece: string): Difference {
  const short = piece.length <= 160 ? piece : `${piece.slice(0, 159)}…`;
  return { kind, piece: short, text: sentences[kind](short) };
}

/** So much of what a statement says, said by one other or by all together, makes it known again. */
const [saidMin, scatteredMin] = [0.6, 0.8] as const;

/** A claim without a number, a name or a word that binds is missed by its words alone. */
function missingStatements(newText: string, oldText: string): readonly Difference[] {
  const index = indexOriginal(oldText);
  const { exact, statements: said } = indexOriginal(newText);
  const all = { ...emptyStatement, words: said.flatMap(({ words }) => words) };
  const missing = index.statements.filter(
    (one) =>
      one.words.length > 0 &&
      !exact.has(flatText(one.text)) &&
      !said.some((other) => coverage(index, one, other) >= saidMin) &&
      coverage(index, one, all) < scatteredMin,
  );
  return missing.map(({ text }) => difference("statement-missing", text));
}

const emptyStatement: Statement = {
  text: "",
  words: [],
  marks: [],
  numbers: [],
  spelled: [],
  names: [],
  pairs: [],
  quotes: [],
  chain: [],
};
