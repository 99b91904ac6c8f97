import { clausesOf } from "./acceptance-clauses.ts";
import { coverage, nearest, type OriginalIndex } from "./acceptance-index.ts";
import { type Reason, type ReasonKind, shorten } from "./acceptance-reasons.ts";
import { isFact, isProse, type Mark, type Statement, type Token } from "./acceptance-text.ts";
import { type MarkKind, unitOf } from "./acceptance-words.ts";

/** From this share of common words on a statement copies another; from the second on it has all its words. */
const [copyMin, allMin] = [0.85, 0.999] as const;
/** Copies of nearly the same share: any of them may be the one that is copied. */
const equalShare = 0.01;

/** A copy must have the facts, negations and constraints of the statement that it copies. */
export function changedCopy(index: OriginalIndex, one: Statement): readonly Reason[] {
  const shares = nearest(index, new Set(one.words)).map((other) => ({
    other,
    share: Math.min(coverage(index, other, one), coverage(index, one, other)),
  }));
  const best = Math.max(copyMin, ...shares.map(({ share }) => share));
  const copied = shares.filter(({ share }) => share >= best - equalShare);
  const differences = copied.map(({ other, share }) => [
    ...lostFacts(one, other, share >= allMin),
    ...changedUnits(one, other),
    ...changedMarks(one, other),
  ]);
  return differences.reduce((a, b) => (b.length < a.length ? b : a), differences[0] ?? []);
}

function changed(kind: ReasonKind, piece: string, { text }: Statement): Reason {
  return { kind, piece, text: `The summary changes "${piece}" in: ${shorten(text)}` };
}

/** A fact was cut if its neighbour is still there. In data a fact may be left out, unless nothing else is. */
function lostFacts(one: Statement, other: Statement, isAll: boolean): readonly Reason[] {
  if (!isProse(other.text) && !isAll) return [];
  const count = ({ tokens }: Statement, { key }: Token): number =>
    tokens.filter((token) => isFact(token) && (token.key === key || key.endsWith(`/${token.key}`))).length;
  const lost = other.tokens.filter((token, at) => {
    const [before, after] = [other.tokens[at - 1], other.tokens[at + 1]];
    const neighbour = after === undefined || after.kind === "filler" ? before : after;
    const isCut = !isProse(other.text) || one.tokens.some(({ word }) => word === neighbour?.word);
    return (
      isCut &&
      isFact(token) &&
      !/^\d\d?:/.test(token.key) &&
      count(one, token) < (isAll ? count(other, token) : 1)
    );
  });
  return lost.map(({ word }) => changed("fact-lost", word, other));
}

function changedUnits(one: Statement, other: Statement): readonly Reason[] {
  const numbers = one.numbers.filter(({ value, unit }) => {
    const units = other.numbers
      .filter((number) => number.value === value)
      .flatMap((number) => number.unit ?? []);
    return unit !== null && units.length > 0 && !units.includes(unit);
  });
  return numbers.map(({ written }) => changed("unit-changed", written, other));
}

/** Marks that may stand for each other: "at most two days" is "not longer than two days". */
const exchangeable: readonly MarkKind[] = ["negation", "only", "exception", "at-most", "at-least", "always"];

function changedMarks(one: Statement, other: Statement): readonly Reason[] {
  const count = ({ marks }: Statement, kind: MarkKind): number =>
    marks.filter((mark) => mark.kind === kind).length;
  const marksOnly = (a: Statement, b: Statement): readonly Mark[] =>
    a.marks.filter(({ kind }) => count(a, kind) > count(b, kind));
  const negations = (statement: Statement): number =>
    clausesOf(statement).reduce((sum, { times }) => sum + times, 0);
  const [lost, added] = [marksOnly(other, one), marksOnly(one, other)];
  const has = (marks: readonly Mark[], ...kinds: readonly MarkKind[]): boolean =>
    marks.some(({ kind }) => kinds.includes(kind));
  const turned = lost.filter(
    ({ kind }) =>
      (kind === "obligation" && has(added, "option")) ||
      (kind === "failed" && has(added, "passed")) ||
      (kind === "passed" && has(added, "failed")) ||
      (exchangeable.includes(kind) && !has(added, ...exchangeable)),
  );
  const isNegated = negations(one) > negations(other) && !has(lost, ...exchangeable);
  return [
    ...turned.map(({ kind, word }) => changed(lostKinds[kind] ?? "constraint-lost", word, other)),
    ...added
      .filter(({ kind }) => kind === "negation" && isNegated)
      .map(({ word }) => changed("negation-added", word, other)),
  ];
}

const lostKinds: Readonly<Partial<Record<MarkKind, ReasonKind>>> = {
  negation: "negation-lost",
  failed: "outcome-turned",
  passed: "outcome-turned",
};

// A number or name that was cut out leaves a hole, even without an original to compare: "took minutes".

const opener =
  /^(?:the|an?|of|from|with|at|into|between|under|than|via|per|by|in|about|roughly|since|because)$/;
const closer =
  /^(?:and|or|is|was|were|are|has|must|because|but|until|should|cannot|did|does|of|from|with|for|to|at|in|by|under)$/;
/** Prepositions that may follow each other. */
const double = /^(?:(?:from|in|by|since|because) (?:at|in|with|of|by|for|from|under)|\S+ at (?:most|least))/;
/** Words that need a number before a unit; but "time in ms" names a unit. */
const counting =
  /^(?:after|for|of|in|at|about|under|within|over|to|take|takes|took|needs?|than|most|least|costs?|is|was|are|only|roughly)$/;
const measured = /^(?:times?|sizes?|durations?|lengths?|values?|given|measured|seconds|bytes) in /;
const bareUnit = /^(?:ms|kb|mb|gb|tb|kib|mib|gib|%)$/;

const holes: readonly RegExp[] = [
  // A preposition at the end, empty quotes or brackets, a sign without a word in front of it.
  /(?<!`)``(?!`)|\b(?:the|an|of|from|into|between|than|via|per|since|because)\s*(?=[.,;:)]|$)|(?:^|\s)\(\s*[,;)]|,\s*,|(?:^|\s)\(\)/giu,
  /^[:;,](?=\s)|\p{L}+ [.:;,)](?=[\s.,;]|$)|\( \p{L}+|\b(?:in|with|of|from|into|by|to|the) \((?!\d)\S+|[.;:]\s*,/giu,
  /[(,]\s*\)|\(\s*["'] ?["']\)|\b(?:and|or)\s*[),;]|\p{L}=(?:\s(?![=\s])|`)|\s–\d|\d–\s|\p{L} %/gu,
  // "2 of tests", but "2 of the tests" and "2 of eight".
  /\b\d+ of (?!the|an?\b|th(?:em|ese|ose|is|at)|us\b|its|our|their|all|which|two|three|four|five|six|seven|eight)\p{Ll}{3,}/gu,
  /\b(?:fewer than|at most|at least) (?!th(?:at|is)\b)\p{Ll}+s\b/gu,
];

/** A sentence without a subject. */
const headless = /(?:^(?:[-*•] )?|: )(?:is|are|was|were|has|had|may|can|does|did|must|:\d)\b/;

export function holesIn(index: OriginalIndex, { tokens, text }: Statement): readonly Reason[] {
  const words = tokens.map(({ word }) => word);
  const small = text.toLowerCase();
  const pairs = words.slice(1).flatMap((next, at) => {
    const [word, pair] = [words[at] as string, `${words[at]} ${next}`];
    const isOpen = opener.test(word) && closer.test(next) && !double.test(`${pair} ${words[at + 2] ?? ""}`);
    if (measured.test(`${words[at - 1]} ${pair}`)) return [];
    const isUncounted = counting.test(word) && (next.length > 1 || next === "s") && unitOf(next) !== null;
    const isBare = bareUnit.test(next) && !/[\d/]/.test(word) && !text.includes("Ms. ");
    const cut = isWord(tokens[at]) || isWord(tokens[at + 1]) ? factBetween(index, word, next) : "";
    const isCut = cut !== "" && !words.includes(cut) && !small.includes(cut);
    return (isOpen && small.includes(pair)) || isUncounted || isBare || isCut ? [pair] : [];
  });
  const gaps = holes.flatMap((hole) => Array.from(text.matchAll(hole), ([gap]) => gap.toLowerCase()));
  const found = [...pairs, ...gaps].filter((hole) => !index.flat.includes(hole));
  const start = headless.exec(text)?.[0];
  if (start !== undefined && !index.statements.some((one) => headless.exec(one.text)?.[0] === start))
    found.push(start);
  return found.map((gap) => {
    return { kind: "fact-lost", piece: gap, text: `The summary lacks a fact at "${gap}": ${shorten(text)}` };
  });
}

function isWord(token: Token | undefined): boolean {
  return token?.kind === "word" || token?.kind === "unit";
}

/** The fact that the original has between these two words. */
function factBetween({ flat, names }: OriginalIndex, word: string, next: string): string {
  if (!/^[\p{L}\p{N}]+$/u.test(word + next) || !flat.includes(`${word} `)) return "";
  const between = new RegExp(`(?<![\\p{L}\\p{N}])${word} (\\S+) ${next}(?![\\p{L}\\p{N}])`, "u").exec(
    flat,
  )?.[1];
  const fact = between?.replace(/^["'(`*]+|["')`*]+$/g, "") ?? "";
  return names.has(fact) || /^[\d.,/]*\d%?$/.test(fact) ? fact : "";
}
