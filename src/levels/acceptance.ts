import { isCode } from "./acceptance-code.ts";
import { additions, type Compared, complaintsAbout, coverage, hasNumber } from "./acceptance-compare.ts";
import { cutOut, inventedIn, numbersElsewhere, type Reason } from "./acceptance-facts.ts";
import {
  type Candidate,
  flatText,
  indexOriginal,
  nearest,
  numberKey,
  type OriginalIndex,
} from "./acceptance-index.ts";
import { type Mark, readStatement, type Statement, statementsOf } from "./acceptance-statements.ts";
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
  const reasons = reasonsAgainst(original, summary);
  return { accepted: reasons.length === 0, reasons: reasons.slice(0, reasonsMax) };
}

/** All of them, each once. */
export function reasonsAgainst(original: string, summary: string): readonly Reason[] {
  const index = indexOriginal(original);
  // A summary is not broken for its length, and its lines often end without a sign.
  const lines = summary.split("\n");
  const statements = lines.flatMap((line) => statementsOf(line));
  // What one statement begins the next may end: what binds is looked for in whole lines, too.
  const wholes = [...statements, ...lines.filter((line) => line.length <= wholeCharsMax).map(readStatement)];
  const reasons = [
    ...statements.flatMap((one) => judgeStatement(index, one, statements)),
    ...missingIn(index, wholes),
  ];
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()];
}

/** Longer lines say too much at once to be about one thing. */
const wholeCharsMax = 300;

function judgeStatement(
  index: OriginalIndex,
  one: Statement,
  summary: readonly Statement[],
): readonly Reason[] {
  // What stands there word by word can only be right.
  if (index.exact.has(flatText(one.text))) return [];
  if (isCode(one.text)) return changedCode(index, one);
  const invented = inventedIn(index, one);
  return invented.length > 0 ? invented : compareWithNearest(index, one, summary);
}

/** Code and numbered lines are quoted or left out; nobody puts them in other words. */
function changedCode({ exact }: OriginalIndex, { text }: Statement): readonly Reason[] {
  if (exact.has(flatText(text))) return [];
  return [
    {
      kind: "quote-changed",
      piece: text,
      text: `The original does not have this line as it is here: ${text}`,
    },
  ];
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
  const reasons: Reason[] = [...numbersElsewhere(index, one), ...cutOut(index, one)];
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

function missingIn(index: OriginalIndex, summary: readonly Statement[]): readonly Reason[] {
  const lost = index.critical.filter((constraint) => !isKept(index, constraint, summary));
  const reasons: Reason[] = lost.map(({ text }) => ({
    kind: "constraint-missing",
    piece: text,
    text: `The summary leaves out what binds: ${text}`,
  }));
  const [main] = index.mainNames;
  const isNamed = index.mainNames.some((name) =>
    summary.some(({ names }) => names.some((one) => isOneName(one, name))),
  );
  if (main === undefined || isNamed) return reasons;
  const text = `The summary names none of what the original is about, such as ${main}.`;
  return [...reasons, { kind: "names-missing", piece: main, text }];
}

function isOneName(one: string, name: string): boolean {
  return name.toLowerCase().endsWith(one.toLowerCase());
}

/** So much of what stands around a binding word, or of the whole, makes a constraint known again. */
const [coreMin, wholeMin] = [0.6, 0.5] as const;

function isKept(index: OriginalIndex, constraint: Statement, summary: readonly Statement[]): boolean {
  const marks = constraint.marks.filter(({ kind }) => bindingKinds.has(kind));
  const cores = marks.map((mark) => ({ ...constraint, names: [], words: coreOf(constraint, mark) }));
  return summary.some((statement) => {
    if (!marks.some(({ kind }) => statement.marks.some((mark) => mark.kind === kind))) return false;
    if (!constraint.numbers.every(({ value }) => hasNumber(statement, value))) return false;
    if (coverage(index, constraint, statement) >= wholeMin) return true;
    return cores.some((core) => coverage(index, core, statement) >= coreMin);
  });
}

const bindingKinds: ReadonlySet<MarkKind> = new Set([
  "negation",
  "obligation",
  "always",
  "only",
  "exception",
]);

function coreOf({ words }: Statement, { at }: Mark): readonly string[] {
  return words.slice(Math.max(0, at - 1), at + 3);
}
