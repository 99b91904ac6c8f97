import { turnedChanges } from "./acceptance-changes.ts";
import { turnedClauses } from "./acceptance-clauses.ts";
import { missingConstraints } from "./acceptance-constraints.ts";
import { changedCopy, holesIn } from "./acceptance-copies.ts";
import { inventedFacts } from "./acceptance-facts.ts";
import type { OriginalIndex } from "./acceptance-index.ts";
import { Original } from "./acceptance-original.ts";
import type { Reason } from "./acceptance-reasons.ts";
import { exchangedValues } from "./acceptance-slots.ts";
import { isCode, type Statement, statementsOf } from "./acceptance-text.ts";

export type Judgement = { readonly accepted: boolean; readonly reasons: readonly Reason[] };

/** A user reads only a few. */
const reasonsMax = 20;

/**
 * Whether a summary may stand for its original. It may leave details out, but it must keep the constraints
 * and must not contradict: no new fact, no fact in another place, nothing negated, bound or failed otherwise.
 */
export function judge(original: string, summary: string): Judgement {
  return judgeOf(new Original(original), summary);
}

export function judgeOf(original: Original, summary: string): Judgement {
  const reasons = reasonsOf(original, summary);
  return { accepted: reasons.length === 0, reasons: reasons.slice(0, reasonsMax) };
}

/** All reasons, each once. */
export function reasonsAgainst(original: string, summary: string): readonly Reason[] {
  return reasonsOf(new Original(original), summary);
}

function reasonsOf(original: Original, summary: string): readonly Reason[] {
  // Lines of a summary often end without a full stop, so they are read one by one.
  const lines = summary.split("\n");
  const statements = lines.flatMap((line) => statementsOf(line));
  const reasons = [
    ...statements.flatMap((one) => judgeStatement(original, one)),
    ...missingConstraints(original, statements, lines),
    ...missingNames(original, statements),
  ];
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()];
}

function judgeStatement(original: Original, one: Statement): readonly Reason[] {
  if (original.has(one)) return [];
  if (isCode(one.text)) return [changedCode(one)];
  const invented = inventedFacts(original.index, one);
  return invented.length > 0 ? invented : contradictionsIn(original.index, one);
}

/** Code is quoted exactly or left out. */
function changedCode({ text }: Statement): Reason {
  return { kind: "quote-changed", piece: text, text: `The original does not have this line: ${text}` };
}

export function contradictionsIn(index: OriginalIndex, one: Statement): readonly Reason[] {
  return [
    ...exchangedValues(index, one),
    ...turnedChanges(index, one),
    ...turnedClauses(index, one),
    ...changedCopy(index, one),
    ...holesIn(index, one),
  ];
}

/** A summary without any fact is refused if the original repeats a name. */
function missingNames({ mainNames: [main] }: Original, statements: readonly Statement[]): readonly Reason[] {
  if (main === undefined || statements.some(({ names, numbers }) => names.length + numbers.length > 0))
    return [];
  const text = `The summary names none of the things that the original is about, such as ${main}.`;
  return [{ kind: "names-missing", piece: main, text }];
}
