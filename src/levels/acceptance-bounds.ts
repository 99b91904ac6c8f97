import type { Reason } from "./acceptance-facts.ts";
import type { Mark, Statement } from "./acceptance-statements.ts";
import { tokensOf } from "./acceptance-tokens.ts";
import type { MarkKind } from "./acceptance-words.ts";

// What binds may be said in many ways, and those cannot be listed; what unbinds it can. So a constraint is
// lost where the summary speaks of the same and puts the contrary there, not where its own word is missing.

type Bound = {
  /** With one of these it is still bound. */ readonly kept: RegExp;
  /** With one of these instead it is not. */ readonly contrary: RegExp;
};

const bounds: Readonly<Partial<Record<MarkKind, Bound>>> = {
  obligation: {
    kept: /^(?:must|shall|have|has|needs?|requir\w*|mandatory|only|not|never|no|none|nobody|nothing|neither|cannot|forbid\w*)$|n't$/,
    contrary: /^(?:may|might|can|could|optional|optionally|allows?|allowed|permitted|perhaps|sometimes)$/,
  },
  always: {
    kept: /^(?:always|every|each|all|any|whenever)$/,
    contrary: /^(?:sometimes|usually|often|occasionally|never|rarely|may|might|optionally|once)$/,
  },
  only: {
    kept: /^(?:only|solely|exclusiv\w*|single|alone|just|restrict\w*|limit\w*|nothing|no|none|nobody|not|except|reserv\w*|never|one)$/,
    contrary: /^(?:also|too|any|anybody|anyone|everybody|everyone|all|including|even|freely)$/,
  },
  exception: {
    kept: /^(?:until|till|unless|except\w*|exclud\w*|besides|before|otherwise|wait\w*)$/,
    contrary: /^(?:after|afterwards|since|if|including|include\w*|even|also|from|once|when|with)$/,
  },
  "at-most": {
    kept: /^(?:most|max\w*|up|under|below|within|less|fewer|smaller|shorter|longer|more|limit\w*|restrict\w*)$/,
    contrary: /^(?:least|min\w*)$/,
  },
  "at-least": {
    kept: /^(?:least|min\w*|over|above|more|longer|larger|greater|less|fewer|exceed\w*|later|higher)$/,
    contrary: /^(?:most|max\w*)$/,
  },
};

const [wordsBefore, wordsBehind] = [2, 3] as const;
const contraryReach = 5;

/** Whether a statement binds in this way, in whatever words. */
export function isStillBound(one: Statement, kind: MarkKind): boolean {
  const bound = bounds[kind];
  if (bound === undefined) return false;
  const words = tokensOf(one).map(({ word }) => word);
  return words.some((word) => bound.kept.test(word)) && !words.some((word) => bound.contrary.test(word));
}

/** What binds in the original and does not in the summary. */
export function lostBounds(one: Statement, other: Statement): readonly Reason[] {
  return other.marks.flatMap((mark) => {
    const bound = bounds[mark.kind];
    const around = bound === undefined ? [] : aroundOf(other, mark);
    if (bound === undefined || !isAbout(one, around)) return [];
    const near = wordsNear(one, new Set(around));
    const has = (pattern: RegExp): number => near.filter((word) => pattern.test(word)).length;
    const there = tokensOf(other).filter(({ word }) => bound.contrary.test(word)).length;
    if (has(bound.kept) > 0 || has(bound.contrary) <= there) return [];
    const text = `The constraint "${mark.word}" of the original is lost: ${other.text}`;
    return [{ kind: "constraint-lost", piece: mark.word, text } as const];
  });
}

function aroundOf(statement: Statement, { at }: Mark): readonly string[] {
  return statement.words.slice(Math.max(0, at - wordsBefore), at + wordsBehind);
}

function isAbout({ words }: Statement, around: readonly string[]): boolean {
  const shared = around.filter((word) => words.includes(word)).length;
  return shared >= 2 || (shared === 1 && around.length <= 2);
}

function wordsNear(one: Statement, around: ReadonlySet<string>): readonly string[] {
  const tokens = tokensOf(one);
  const places = tokens.flatMap(({ key }, at) => (around.has(key) ? [at] : []));
  return tokens
    .filter((_token, at) => places.some((place) => Math.abs(place - at) <= contraryReach))
    .map(({ word }) => word);
}
