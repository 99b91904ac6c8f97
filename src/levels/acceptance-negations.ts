import type { Reason } from "./acceptance-facts.ts";
import { type OriginalIndex, weightOf } from "./acceptance-index.ts";
import { readStatement, type Statement } from "./acceptance-statements.ts";
import { type Token, tokensOf } from "./acceptance-tokens.ts";

// A negation turns its clause, in whatever words it is said. So clauses are compared: one that is negated in
// the original and said again in the summary must be negated there too, and the other way round.

const clauseEnd =
  /[,;:()–—]\s|\s[-–—(]|[.)]\s|\s(?:because|since|so that|so|but|and|otherwise|while|when|if|although|which|then|where)\s|\s(?=(?:instead of|rather than)\s)/;

export type Clause = {
  readonly words: readonly string[];
  readonly keys: ReadonlySet<string>;
  /** Those of them that are numbers and names. */
  readonly facts: ReadonlySet<string>;
  /** Words that say mildly that something is not so. */
  readonly mild: readonly string[];
  /** How often it is negated. */
  readonly times: number;
  /** What cannot be left out, and the first word that it is about. */
  readonly negation: string | null;
  readonly head: string;
};

const known = new WeakMap<Statement, readonly Clause[]>();

export function clausesOf(statement: Statement): readonly Clause[] {
  const before = known.get(statement);
  if (before !== undefined) return before;
  const clauses = statement.text.split(clauseEnd).map((text) => readClause(tokensOf(readStatement(text))));
  const said = clauses.filter(({ keys }) => keys.size > 0);
  known.set(statement, said);
  return said;
}

function readClause(tokens: readonly Token[]): Clause {
  const content = tokens.filter(isContent);
  const at = tokens.findIndex(({ isStrong }, place) => isStrong && !isPhrase(tokens, place));
  const head = tokens.slice(at + 1).find(isContent) ?? tokens.slice(0, Math.max(0, at)).findLast(isContent);
  return {
    words: tokens.map(({ word }) => word),
    keys: new Set(content.map(({ key }) => key)),
    facts: new Set(content.filter(({ sort }) => sort !== "word").map(({ key }) => key)),
    mild: tokens.filter((token) => token.isNegative && !token.isStrong).map(({ word }) => word),
    times: tokens.filter(({ isStrong, word }) => isStrong && !/^(?:nor|neither|without)$/.test(word)).length,
    negation: at < 0 ? null : (tokens[at]?.word ?? null),
    head: head?.key ?? "",
  };
}

function isContent({ sort }: Token): boolean {
  return sort === "word" || sort === "name" || sort === "number";
}

/** "Not only" says more than is said, "no more than" is a bound; "or not" makes no difference. */
const phrases: Readonly<Record<string, RegExp>> = {
  not: /^(?:only|just|even|necessarily)$/,
  no: /^matter$/,
  without: /^(?:it|them|this|that|these|those)$/,
};

const aBound = /^(?:\S+ ){0,3}(?:(?:more|less|fewer|longer|later|larger) than|exceed)/;

function wordsBehind(tokens: readonly Token[], at: number): string {
  return tokens
    .slice(at + 1, at + 6)
    .map(({ word }) => word)
    .join(" ");
}

function isPhrase(tokens: readonly Token[], at: number): boolean {
  if (tokens[at - 1]?.word === "or" && at === tokens.length - 1) return true;
  if (tokens[at]?.word === "none") return true;
  if (aBound.test(wordsBehind(tokens, at))) return true;
  return phrases[tokens[at]?.word ?? ""]?.test(tokens[at + 1]?.word ?? "") ?? false;
}

export function negationsIn(statement: Statement): number {
  return clausesOf(statement).filter(({ negation }) => negation !== null).length;
}

const refusing = /^(?:refus|reject|forbid|prohibit|block|den(?:y|ie)|disallow)/;

/** Whether what stands here is negated or refused. */
export function isForbiddenAt(statement: Statement, key: string): boolean {
  return clausesOf(statement).some(
    ({ keys, negation, words }) =>
      keys.has(key) && (negation !== null || words.some((word) => refusing.test(word))),
  );
}

function sharedWith(one: Clause, other: Clause): number {
  let shared = 0;
  for (const key of one.keys) if (other.keys.has(key)) shared += 1;
  return shared;
}

/**
 * Whether the second clause says again what the first does: its head and more. "Nobody" and "no" negate the
 * whole, so most of it will do; behind "not" another verb may well say the same without a negation.
 */
function isAbout(negated: Clause, other: Clause): boolean {
  const shared = sharedWith(negated, other);
  const isWhole = /^no(?:body|thing)?$/.test(negated.negation ?? "");
  if (shared >= 2 && shared >= (isWhole ? mostMin.whole : mostMin.verb) * negated.keys.size) return true;
  return other.keys.has(negated.head) && shared >= 2;
}

const mostMin = { whole: 0.6, verb: 0.8 } as const;

/** Whether two clauses say one thing but for a negation; what only follows may be negated. */
function isSaidAgain(own: Clause, its: Clause): boolean {
  const shared = sharedWith(own, its);
  if (shared < 2 || !its.keys.has(own.head)) return false;
  return shared >= againMin * own.keys.size;
}

const againMin = 0.5;

/** Whether the second clause, which is negated, may be what the first stands for. */
function isSupport(clause: Clause, negative: Clause): boolean {
  const shared = sharedWith(clause, negative);
  return shared >= 2 || (shared === 1 && (negative.keys.has(clause.head) || clause.keys.has(negative.head)));
}

/** What the original negates and the summary does not. */
export function lostNegations(one: Statement, other: Statement): readonly Reason[] {
  return clausesOf(other).flatMap((clause) => {
    const { negation: piece } = clause;
    if (piece === null) return [];
    const about = clausesOf(one).filter((own) => isAbout(clause, own));
    const isSaid = clausesOf(one).some((own) => isNegativeBeside(own, clause) && isSupport(clause, own));
    if (about.length === 0 || isSaid) return [];
    const text = `The negation "${piece}" of the original is lost: ${other.text}`;
    return [{ kind: "negation-lost", piece, text } as const];
  });
}

/** "The others don't": what is negated stands elsewhere. */
function isCutShort({ words, negation }: Clause): boolean {
  return words.at(-1) === negation;
}

/** A clause of the original and how much a clause of the summary has in common with it. */
type Near = { readonly clause: Clause; readonly statement: Statement; readonly weight: number };

/** A word that stands nearly everywhere leads nowhere. */
const placesMax = 32;

/** The clause that is nearest to this one, of those that are asked for. */
function nearestClause(index: OriginalIndex, own: Clause, isAsked: (clause: Clause) => boolean): Near | null {
  const found = [...own.keys].map((key) => index.places.get(key) ?? []);
  const few = found.filter(({ length }) => length <= placesMax);
  const places = new Set((few.some(({ length }) => length > 0) ? few : found).flat());
  let best: Near | null = null;
  for (const at of places) {
    const statement = index.statements[at] as Statement;
    for (const clause of clausesOf(statement)) {
      if (!isAsked(clause)) continue;
      let weight = 0;
      for (const key of own.keys) if (clause.keys.has(key)) weight += weightOf(index, key);
      if (weight > (best?.weight ?? 0)) best = { clause, statement, weight };
    }
  }
  return best;
}

/** Whether a clause says that something is not so, with a word that the other does not have anyway. */
function isNegativeBeside(clause: Clause, other: Clause): boolean {
  return clause.negation !== null || clause.mild.some((word) => !other.words.includes(word));
}

/** The nearest clause decides: what it negates must be negated, and nothing else. */
export function turnedClauses(index: OriginalIndex, one: Statement): readonly Reason[] {
  return clausesOf(one).flatMap((own) => {
    if (own.times > 1) return doubledIn(index, own);
    if (own.negation !== null) return isCutShort(own) ? [] : addedIn(index, own);
    return lostIn(index, one, own);
  });
}

function lostIn(index: OriginalIndex, one: Statement, own: Clause): readonly Reason[] {
  const negated = nearestClause(index, own, (clause) => clause.negation !== null && isAbout(clause, own));
  if (negated === null) return [];
  const there = clausesOf(negated.statement).flatMap(({ words }) => words);
  if (own.mild.some((word) => !there.includes(word))) return [];
  const { head } = negated.clause;
  const plain = nearestClause(index, own, ({ negation, keys }) => negation === null && keys.has(head));
  if ((plain?.weight ?? 0) >= negated.weight) return [];
  // It may be said beside it.
  const isBeside = (clause: Clause): boolean =>
    (clause.negation !== null || clause.mild.some((word) => !there.includes(word))) &&
    isSupport(negated.clause, clause);
  if (clausesOf(one).some(isBeside)) return [];
  const piece = negated.clause.negation ?? "";
  const text = `The negation "${piece}" of the original is lost: ${negated.statement.text}`;
  return [{ kind: "negation-lost", piece, text }];
}

/** Two negations in one clause undo each other, which nobody writes who has not read it. */
function doubledIn(index: OriginalIndex, own: Clause): readonly Reason[] {
  const same = nearestClause(index, own, (clause) => clause.times > 1 && isAbout(own, clause));
  const piece = own.negation ?? "";
  if (same !== null || piece === "") return [];
  const text = `The summary negates twice what the original does not: ${own.words.join(" ")}`;
  return [{ kind: "negation-added", piece, text }];
}

function addedIn(index: OriginalIndex, own: Clause): readonly Reason[] {
  const piece = own.negation ?? "";
  const plain = nearestClause(
    index,
    own,
    (clause) => !isNegativeBeside(clause, own) && isSaidAgain(own, clause),
  );
  if (piece === "without" || plain === null) return [];
  const negated = nearestClause(index, own, (clause) => isNegativeBeside(clause, own));
  if ((negated?.weight ?? 0) >= plain.weight * addedMin) return [];
  // "The report is sent, but it must never be": the second clause says of what the first names.
  if (clausesOf(plain.statement).some(({ negation, keys }) => negation !== null && keys.has(own.head)))
    return [];
  const text = `The summary negates with "${piece}" what the original does not: ${plain.statement.text}`;
  return [{ kind: "negation-added", piece, text }];
}

const addedMin = 0.6;

/** A clause that says again what one of the original says, without the number or name that it is about. */
export function lostInClauses(
  index: OriginalIndex,
  one: Statement,
  said: ReadonlySet<string>,
): readonly Reason[] {
  return clausesOf(one).flatMap((own) => {
    if (own.keys.size - own.facts.size < plainMin) return [];
    const same = nearestClause(index, own, (its) => isSameButFacts(own, its));
    if (same === null || same.clause.facts.size === 0) return [];
    const lost = [...same.clause.facts].filter((fact) => !isSaidIn(said, fact));
    if (lost.length < same.clause.facts.size) return [];
    return lost.map((fact) => {
      const piece = fact.startsWith("#") ? fact.slice(1) : fact;
      const text = `The summary leaves ${piece} out of: ${same.statement.text}`;
      return { kind: "fact-lost", piece, text } as const;
    });
  });
}

function isSaidIn(said: ReadonlySet<string>, fact: string): boolean {
  return said.has(fact) || [...said].some((one) => fact.endsWith(`/${one}`));
}

const plainMin = 3;
const sameMin = 0.8;

/** Whether two clauses have the same words, whatever their numbers and names. */
function isSameButFacts(own: Clause, its: Clause): boolean {
  let shared = 0;
  for (const key of own.keys) if (!own.facts.has(key) && its.keys.has(key)) shared += 1;
  const most = Math.max(own.keys.size - own.facts.size, its.keys.size - its.facts.size);
  return shared >= plainMin && shared >= sameMin * most;
}
