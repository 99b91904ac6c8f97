import { type Judgement, judgeOf } from "./acceptance/acceptance.ts";
import { Original } from "./acceptance/acceptance-original.ts";
import type { Piece, Statement } from "./acceptance/acceptance-text.ts";
import type { MarkKind } from "./acceptance/acceptance-words.ts";
import { costOf } from "./cost.ts";
import type { Source } from "./source.ts";

/** A piece that may be chosen, with its cost and its worth. */
type Choice = {
  readonly piece: Piece;
  readonly statement: Statement;
  readonly order: number;
  readonly cost: number;
  readonly worth: number;
};

/**
 * Summarises without a model: it takes sentences and lines of the source, verbatim and in order. Constraints
 * come first, then decisions, errors and statements with new facts. "…" marks a gap between two sentences of
 * a line.
 */
export function extract(source: ExtractSource, tokensMax: number): string {
  return extractOf(new Original(source.text), source.kind, tokensMax);
}

export type ExtractSource = Pick<Source, "kind" | "text">;
export type JudgedExtract = { readonly summary: string; readonly judgement: Judgement };

/** Extracts and judges. The original is read once for both, because reading takes most of the time. */
export function judgedExtract(source: ExtractSource, tokensMax: number): JudgedExtract {
  const original = new Original(source.text);
  const summary = extractOf(original, source.kind, tokensMax);
  return { summary, judgement: judgeOf(original, summary) };
}

function extractOf(original: Original, kind: Source["kind"], tokensMax: number): string {
  const { pieces, statements } = original.read;
  const counts = countWords(statements);
  const choices = pieces.map((piece, order): Choice => {
    const statement = statements[order] as Statement;
    const ends = endsWorth(order, pieces.length, kind);
    return { piece, statement, order, cost: costOf(piece.text), worth: worthOf(statement, counts) + ends };
  });
  return join(choose(choices, bindingIn(original), tokensMax));
}

/** The constraints, and the shortest statement with a main name. */
function bindingIn({ read, critical, mainNames }: Original): ReadonlySet<Statement> {
  const main = new Set(mainNames);
  const naming = read.statements.filter(({ names }) => names.some((name) => main.has(name)));
  const shortest = naming.reduce<Statement | null>(
    (best, next) => (best === null || next.text.length < best.text.length ? next : best),
    null,
  );
  return new Set([...critical, ...(shortest === null ? [] : [shortest])]);
}

function countWords(statements: readonly Statement[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { words } of statements) {
    for (const word of words.length > 1 ? new Set(words) : words)
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** A user states the subject first; an answer states its result last. */
function endsWorth(order: number, count: number, kind: Source["kind"]): number {
  const isFirst = order === 0;
  const isLast = order === count - 1;
  if (kind === "user") return isFirst ? 6 : 0;
  return isLast ? 4 : isFirst ? 3 : 0;
}

const decisions =
  /\b(?:decid\w+|decision|chose|chosen|agreed|because|root cause|therefore|instead|conclusion|fix(?:ed)?|found|the (?:problem|issue|bug|reason|cause))\b/i;
const bindingMarks: ReadonlySet<MarkKind> = new Set(["obligation", "only", "always", "exception"]);
const heading = /^(?:#{1,6} |\*\*)/;

function worthOf(
  { text, words, marks, numbers, names }: Statement,
  counts: ReadonlyMap<string, number>,
): number {
  return (
    (marks.some(({ kind }) => bindingMarks.has(kind)) ? 4 : 0) +
    (marks.some(({ kind }) => kind === "negation") ? 2 : 0) +
    (marks.some(({ kind }) => kind === "failed") ? 3 : 0) +
    (decisions.test(text) ? 3 : 0) +
    (heading.test(text) ? 1 : 0) +
    Math.min(2, numbers.length) +
    Math.min(3, names.length) +
    themeOf(words, counts)
  );
}

/** Repeated words show the subject of a text. They add no more than this. */
const themeMax = 3;

function themeOf(words: readonly string[], counts: ReadonlyMap<string, number>): number {
  if (words.length === 0) return 0;
  let sum = 0;
  for (const word of words) sum += Math.log2(counts.get(word) ?? 1);
  return Math.min(themeMax, sum / Math.sqrt(words.length) / 2);
}

/** Takes the constraints, then the statements with the most worth for their length, while there is room. */
function choose(
  choices: readonly Choice[],
  binding: ReadonlySet<Statement>,
  tokensMax: number,
): readonly Choice[] {
  const value = ({ statement, worth, cost }: Choice): number =>
    (binding.has(statement) ? 1_000 : 0) + worth / Math.sqrt(cost + 8);
  const values = Float64Array.from(choices, value);
  const ranked = choices.toSorted(
    (a, b) => (values[b.order] ?? 0) - (values[a.order] ?? 0) || a.order - b.order,
  );
  const known = new Set<string>();
  const taken: Choice[] = [];
  let room = tokensMax;
  for (const choice of ranked) {
    const { statement, cost, worth } = choice;
    const isBinding = binding.has(statement);
    if (cost + gapCost > room || (worth < worthMin && !isBinding)) continue;
    // A constraint is repeated even if all its terms are known: together they mean something else.
    if (isBinding ? known.has(statement.text) : hasNothingNew(statement, known)) continue;
    taken.push(choice);
    room -= cost + gapCost;
    for (const term of [...termsOf(statement), statement.text]) known.add(term);
  }
  return taken.sort((a, b) => a.order - b.order);
}

/** A line break or a gap between two pieces. */
const gapCost = 1;

/** A statement with less worth does not earn the room that is left. */
const worthMin = 0.5;

/** Words, numbers, and each mark together with the word beside it. */
function termsOf({ words, numbers, marks }: Statement): readonly string[] {
  const marked = marks.map(({ word, at }) => `${word} ${words[at] ?? words[at - 1] ?? ""}`);
  return [...words, ...numbers.map(({ value }) => value), ...marked];
}

function hasNothingNew(statement: Statement, known: ReadonlySet<string>): boolean {
  return termsOf(statement).every((term) => known.has(term));
}

function join(taken: readonly Choice[]): string {
  let text = "";
  for (const [at, { piece, order }] of taken.entries()) {
    const before = taken[at - 1];
    if (before === undefined) text = piece.text;
    else if (before.piece.line !== piece.line) text += `\n${piece.text}`;
    else text += `${before.order === order - 1 ? " " : " … "}${piece.text}`;
  }
  return text;
}
