import type { Statement } from "./acceptance-statements.ts";
import { isFiller, isNegative, isStrongNegation, stemOf, unitOf } from "./acceptance-words.ts";

/** A word, number or name where it stands, under the key by which it is compared. */
export type Token = {
  readonly word: string;
  /** The stem of a word, the value of a number behind `#`, a name in small letters; empty for a filler. */
  readonly key: string;
  readonly sort: "filler" | "word" | "unit" | "number" | "name";
  /** Whether it says that something is not so, however mildly; and whether it can say nothing else. */
  readonly isNegative: boolean;
  readonly isStrong: boolean;
};

const known = new WeakMap<Statement, readonly Token[]>();

export function tokensOf(statement: Statement): readonly Token[] {
  const before = known.get(statement);
  if (before !== undefined) return before;
  const values = new Map(statement.numbers.map(({ written, value }) => [written.toLowerCase(), value]));
  const names = new Set(statement.names.map((name) => name.toLowerCase()));
  const tokens = statement.chain.flatMap((one) =>
    names.has(one) ? [fact(one, one, "name")] : tokensIn(one, values.get(one)),
  );
  known.set(statement, tokens);
  return tokens;
}

const wordEnd = /[^\p{L}\p{N}']+/u;
const someNumbers = /^\d+(?:[/:–-]\d+)+$/;
const plain = /^[a-z]+$/;

function tokensIn(one: string, value: string | undefined): readonly Token[] {
  if (value !== undefined) return [fact(one, `#${value}`, "number")];
  if (plain.test(one)) return [wordToken(one)];
  const parts = one.split(wordEnd).filter(Boolean);
  if (someNumbers.test(one)) return parts.map((part) => fact(part, `#${Number(part)}`, "number"));
  return parts.map(wordToken);
}

function fact(word: string, key: string, sort: "number" | "name"): Token {
  return { word, key, sort, isNegative: false, isStrong: false };
}

const undone = /^un(?=[a-z]{3,}(?:ed|known|able|sure|paid|read|met)$)(?!united|unified|unexpected|unlimited)/;

function wordToken(word: string): Token {
  const isUndone = undone.test(word);
  const isStrong = isStrongNegation(word);
  const said = isUndone ? word.slice(2) : word;
  const unit = unitOf(word);
  const sort = unit !== null ? "unit" : isFiller(said) || isStrong ? "filler" : "word";
  const key = sort === "filler" ? "" : unit === null ? stemOf(said) : `=${unit}`;
  return { word, key, sort, isNegative: isUndone || isStrong || isNegative(word), isStrong };
}
