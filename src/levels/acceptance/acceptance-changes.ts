import type { OriginalIndex } from "./acceptance-index.ts";
import { type Reason, shorten } from "./acceptance-reasons.ts";
import { isFact, type Statement, type Token } from "./acceptance-text.ts";

// "From 3 to 5", "5 instead of 3", "expected 3, got 5": two facts and which of them came first.

/** The fact that was there or was expected, and the one that replaced it. */
type Change = { readonly before: Token; readonly after: Token };

/** Changes that the original makes the other way round. */
export function turnedChanges(index: OriginalIndex, one: Statement): readonly Reason[] {
  return changesIn(one).flatMap(({ before, after }) => {
    const there = (index.places.get(before.key) ?? []).flatMap((at) => changesNear(index, at));
    const has = (from: Token, to: Token): boolean =>
      there.some((change) => change.before.key === from.key && change.after.key === to.key);
    if (has(before, after) || !has(after, before)) return [];
    const text = `The summary turns a change from ${after.word} to ${before.word} round: ${shorten(one.text)}`;
    return [{ kind: "fact-elsewhere", piece: after.word, text } as const];
  });
}

/** Words before the old fact, and words between the new fact and an old one. */
const oldBefore =
  /\b(?:from|instead of|rather than|not|expected|expects|wants?|wanted|should be|was|previously|formerly|up from|down from|expected \S+ to be|assert (?:\p{L}+ )?0)(?: \p{L}+)?$/u;
const oldBehind =
  /^(?:\p{L}+ )?(?:before|replaced by|became|(?:was|were|had been) (?:expected|promised|ordered|planned)|expected)\b/u;
const wordsBetweenMax = 8;

function changesIn({ tokens }: Statement): readonly Change[] {
  const facts = tokens.flatMap((token, at) =>
    isFact(token) ? [{ token, at, isOld: isOld(tokens, at) }] : [],
  );
  return facts.slice(1).flatMap((b, order) => {
    const a = facts[order] as typeof b;
    if (a.token.kind !== b.token.kind || b.at - a.at > wordsBetweenMax || a.isOld === b.isOld) return [];
    return a.isOld ? [{ before: a.token, after: b.token }] : [{ before: b.token, after: a.token }];
  });
}

function isOld(tokens: readonly Token[], at: number): boolean {
  const words = (from: number, to: number): string =>
    tokens
      .slice(Math.max(0, from), Math.max(0, to))
      .map((token) => (isFact(token) ? "0" : token.word))
      .join(" ");
  return oldBefore.test(words(at - 4, at)) || oldBehind.test(words(at + 1, at + 5));
}

/** In a diff, a removed line and the added lines behind it are a change. */
const addedMax = 3;

function changesNear({ statements }: OriginalIndex, at: number): readonly Change[] {
  const statement = statements[at] as Statement;
  if (!/^[-+](?![-+])/.test(statement.text)) return changesIn(statement);
  const isAdded = statement.text.startsWith("+");
  const near = isAdded
    ? statements.slice(Math.max(0, at - addedMax), at)
    : statements.slice(at + 1, at + 1 + addedMax);
  const others = near.filter(({ text }) => (isAdded ? /^-(?!-)/ : /^\+(?!\+)/).test(text));
  const own = statement.tokens.filter(isFact);
  return others.flatMap(({ tokens }) => {
    const its = tokens.filter(isFact);
    const has = (all: readonly Token[], one: Token): boolean => all.some(({ key }) => key === one.key);
    const [fresh, theirs] = [own.filter((one) => !has(its, one)), its.filter((one) => !has(own, one))];
    return fresh.flatMap((a) =>
      theirs.map((b) => (isAdded ? { before: b, after: a } : { before: a, after: b })),
    );
  });
}
