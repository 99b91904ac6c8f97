import { type OriginalIndex, weightOf } from "./acceptance-index.ts";
import { type Reason, shorten } from "./acceptance-reasons.ts";
import type { Statement, Token } from "./acceptance-text.ts";
import { isNegative, isStrongNegation } from "./acceptance-words.ts";

type Clause = {
  readonly words: readonly string[];
  readonly keys: ReadonlySet<string>;
  /** Words such as "excluded" and "failed", which may stand for a negation. */
  readonly mild: readonly string[];
  /** How many words negate, the first of them, and the key of the word that it negates. */
  readonly times: number;
  readonly negation: string | null;
  readonly head: string;
  /** The keys behind the negation. */
  readonly behind: ReadonlySet<string>;
};

const clausesByStatement = new WeakMap<Statement, readonly Clause[]>();

export function clausesOf(statement: Statement): readonly Clause[] {
  const known = clausesByStatement.get(statement);
  if (known !== undefined) return known;
  const groups = new Map<number, Token[]>();
  for (const token of statement.tokens)
    groups.set(token.clause, [...(groups.get(token.clause) ?? []), token]);
  const clauses = [...groups.values()].map(readClause).filter(({ keys }) => keys.size > 0);
  clausesByStatement.set(statement, clauses);
  return clauses;
}

function readClause(tokens: readonly Token[]): Clause {
  const negations = tokens.filter((token, at) => isNegation(token) && !isPhrase(tokens, at));
  const at = Math.max(0, tokens.indexOf(negations[0] as Token));
  const hasKey = ({ key }: Token): boolean => key !== "";
  const head = tokens.slice(at).find(hasKey) ?? tokens.slice(0, at).findLast(hasKey);
  return {
    words: tokens.map(({ word }) => word),
    keys: new Set(tokens.filter(hasKey).map(({ key }) => key)),
    mild: tokens.filter((token) => !isNegation(token) && isNegative(token.word)).map(({ word }) => word),
    times: negations.filter(({ word }) => !/^(?:nor|neither|without)$/.test(word)).length,
    negation: negations[0]?.word ?? null,
    head: head?.key ?? "",
    behind: new Set(tokens.slice(at).map(({ key }) => key)),
  };
}

/** "Not", or a word such as "unpaid". */
function isNegation({ word, mark, kind }: Token): boolean {
  return isStrongNegation(word) || (mark === "negation" && kind === "word" && /^un(?!able)/.test(word));
}

/** "Not only" adds, "no more than" is a bound, "or not" makes no difference: these negate nothing. */
const phrase =
  /^(?:not (?:only|just|even|necessarily)|no matter|none|without (?:it|them|this|that|these|those))\b|^\S+ (?:\S+ ){0,3}(?:(?:more|less|fewer|longer|later|larger) than|exceed)/;

function isPhrase(tokens: readonly Token[], at: number): boolean {
  const words = tokens.slice(at, at + 7).map(({ word }) => word);
  return phrase.test(words.join(" ")) || (words.length === 1 && tokens[at - 1]?.word === "or");
}

/** A clause of the original, and the weight of the words that it shares with one of the summary. */
type Match = { readonly clause: Clause; readonly statement: Statement; readonly weight: number };

/** Words in more statements than this do not lead to one of them. */
const placesMax = 32;
const matchesMax = 40;

/** The clauses of the original that share most with this one, best first. */
function matchesOf(index: OriginalIndex, own: Clause): readonly Match[] {
  const found = [...own.keys].map((key) => index.places.get(key) ?? []);
  const few = found.filter(({ length }) => length <= placesMax);
  const places = new Set((few.some(({ length }) => length > 0) ? few : found).flat());
  const matches = [...places].flatMap((at) => {
    const statement = index.statements[at] as Statement;
    return clausesOf(statement).map((clause) => {
      let weight = 0;
      for (const key of own.keys) if (clause.keys.has(key)) weight += weightOf(index, key);
      return { clause, statement, weight };
    });
  });
  const shared = matches.filter(({ weight }) => weight > 0);
  return shared.sort((a, b) => b.weight - a.weight).slice(0, matchesMax);
}

/** Clauses that are negated unlike the nearest clause of the original. */
export function turnedClauses(index: OriginalIndex, one: Statement): readonly Reason[] {
  return clausesOf(one).flatMap((own) => {
    const matches = matchesOf(index, own);
    if (own.negation !== null) return addedNegation(own, matches);
    const lost = lostNegation(own, matches) ?? onlyNegated(one, own, matches);
    if (lost === null) return [];
    const piece = lost.clause.negation ?? "";
    const text = `The negation "${piece}" of the original is lost: ${shorten(lost.statement.text)}`;
    return [{ kind: "negation-lost", piece, text } as const];
  });
}

/** The share of the words of a negated clause, or of the other one, at which the other repeats it. */
const [negatedMin, otherMin] = [0.8, 0.75] as const;

/** Two words are enough if one is the negated word. "Unpaid" negates nothing else. */
function repeats(negated: Clause, { keys }: Clause): boolean {
  const shared = [...negated.keys].filter((key) => keys.has(key));
  if (shared.length < 2 || keys.has(negated.head)) return shared.length >= 2;
  if (/^un/.test(negated.negation ?? "")) return false;
  const isOwn = shared.length >= otherMin * keys.size && shared.some((key) => negated.behind.has(key));
  return isOwn || shared.length >= negatedMin * negated.keys.size;
}

/** The negated clause that this one repeats, unless it repeats a plain one as well or is negated mildly. */
function lostNegation(own: Clause, matches: readonly Match[]): Match | null {
  const negated = matches.find(({ clause }) => clause.negation !== null && repeats(clause, own));
  if (negated === undefined) return null;
  const { head } = negated.clause;
  const there = clausesOf(negated.statement).flatMap(({ words }) => words);
  if (!own.words.includes("always") && own.mild.some((word) => !there.includes(word))) return null;
  const plain = matches.find(
    ({ clause }) => clause.negation === null && (clause.keys.has(head) || !own.keys.has(head)),
  );
  return (plain?.weight ?? 0) >= negated.weight ? null : negated;
}

/** A word that the original uses only to negate it, in a statement that negates nothing. */
function onlyNegated(one: Statement, own: Clause, matches: readonly Match[]): Match | null {
  if (clausesOf(one).some(({ negation, mild }) => negation !== null || mild.length > 0)) return null;
  const word = [...own.keys].find((key) => {
    const having = matches.filter(({ clause }) => clause.keys.has(key));
    return having.length > 0 && having.every(({ clause }) => clause.negation !== null && clause.head === key);
  });
  return matches.find(({ clause }) => clause.head === word) ?? null;
}

/** The share of words, and of the weight of the nearest negated clause, at which a negation is new. */
const [sameMin, negatedMax] = [0.5, 0.6] as const;

function addedNegation(own: Clause, matches: readonly Match[]): readonly Reason[] {
  const piece = own.negation ?? "";
  const isNegated = ({ clause: { negation, mild } }: Match): boolean =>
    negation !== null || mild.some((word) => !own.words.includes(word));
  const plain = matches.find((match) => {
    const shared = [...own.keys].filter((key) => match.clause.keys.has(key)).length;
    const isSame = shared >= 2 && shared >= sameMin * own.keys.size && match.clause.keys.has(own.head);
    return isSame && !isNegated(match);
  });
  const isTwice = own.times > 1 && !matches.some(({ clause }) => clause.times > 1 && repeats(own, clause));
  const isNew = plain !== undefined && (matches.find(isNegated)?.weight ?? 0) < plain.weight * negatedMax;
  // "The others don't": the negated verb is in another clause.
  if (!isTwice && (!isNew || piece === "without" || own.words.at(-1) === piece)) return [];
  const text = `The summary negates with "${piece}", unlike the original: ${own.words.join(" ")}`;
  return [{ kind: "negation-added", piece, text }];
}
