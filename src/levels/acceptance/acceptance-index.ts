import { isProse, numberKey, type ReadText, readText, type Statement } from "./acceptance-text.ts";

export type OriginalIndex = {
  readonly statements: readonly Statement[];
  /** The text in lower case with single blanks. */
  readonly flat: string;
  /** The flat text of every statement. */
  readonly exact: ReadonlySet<string>;
  /** The statements of each word, name and number (`numberKey`). */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** All numbers in digits, those inside of names too. */
  readonly values: ReadonlySet<string>;
  /** Names, and the ends of paths. */
  readonly names: ReadonlySet<string>;
  /** Whether most statements are sentences. */
  readonly isProse: boolean;
};

/** Words in more statements than this do not help to find one. */
const placesMax = 64;
const proseShareMin = 0.7;

export function indexOriginal(original: string): OriginalIndex {
  return indexText(readText(original));
}

export function indexText({ text, statements }: Pick<ReadText, "text" | "statements">): OriginalIndex {
  const places = new Map<string, number[]>();
  for (const [at, statement] of statements.entries()) {
    for (const key of keysOf(statement)) {
      const known = places.get(key);
      if (known === undefined) places.set(key, [at]);
      else if (known.length < placesMax) known.push(at);
    }
  }
  return {
    statements,
    flat: flatText(text),
    exact: new Set(statements.flatMap((one) => [flatText(one.text), flatText(withoutLocation(one.text))])),
    places,
    values: valuesIn(text),
    names: new Set(statements.flatMap(({ names }) => names.flatMap(pathEnds))),
    isProse: statements.filter((one) => isProse(one.text)).length >= proseShareMin * statements.length,
  };
}

/** Outcomes and other marks are everywhere, so they lead nowhere. */
function keysOf({ words, numbers, spelled }: Statement): ReadonlySet<string> {
  return new Set([...words, ...numbers.map(({ value }) => numberKey(value)), ...spelled.map(numberKey)]);
}

/** File reads and searches print a line number or a path in front of a line. */
function withoutLocation(text: string): string {
  return text.replace(/^\s*(?:\d+[→\t]|[\w./-]+[:-]\d+[:-])\s*/, "");
}

/** Digits on their own, as in `a.go:40:26`, `size=12`, `[88]`; not those inside a hash or a date. */
const digits = /(?<![\p{L}\p{N}_.-])\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?=\p{L}{0,5}(?![\p{L}\p{N}]))/gu;

function valuesIn(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(digits), ([found]) => String(Number(found.replace(/[,_]/g, "")))));
}

export function flatText(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

/** `src/a/b.ts` is also called `a/b.ts` and `b.ts`. */
function pathEnds(name: string): readonly string[] {
  const parts = name.toLowerCase().split("/").slice(-12);
  return [name.toLowerCase(), ...parts.map((_part, at) => parts.slice(at).join("/"))];
}

/** Paraphrases bring new words, so a word that the original lacks counts little. */
const unknownWeight = 1;

/** Rare words weigh more: a word of every statement does not tell them apart. */
export function weightOf({ places, statements }: OriginalIndex, key: string): number {
  const count = places.get(key)?.length ?? 0;
  return count === 0 ? unknownWeight : Math.log(1 + statements.length / count);
}

const nearestMax = 12;

/** The statements of the original that share most with these words, best first. */
export function nearest(index: OriginalIndex, words: ReadonlySet<string>): readonly Statement[] {
  const shared = new Map<number, number>();
  for (const word of words)
    for (const at of index.places.get(word) ?? [])
      shared.set(at, (shared.get(at) ?? 0) + weightOf(index, word));
  const best = [...shared].sort(([, a], [, b]) => b - a).slice(0, nearestMax);
  return best.map(([at]) => index.statements[at] as Statement);
}

/** The fewest plain words that identify a statement without its names. */
const plainMin = 2;

/**
 * The share of the first statement's words that the second has. Names count only if there are hardly any
 * other words: with another name it would still be the same statement.
 */
export function coverage(
  index: OriginalIndex,
  { words, names }: Pick<Statement, "words" | "names">,
  by: Pick<Statement, "words">,
): number {
  const named = new Set(names.map((name) => name.toLowerCase()));
  const plain = new Set(words.filter((word) => !named.has(word)));
  let [whole, shared] = [0, 0];
  for (const word of plain.size >= plainMin ? plain : new Set(words)) {
    const weight = weightOf(index, word);
    whole += weight;
    if (by.words.includes(word)) shared += weight;
  }
  return whole === 0 ? 0 : shared / whole;
}

export function hasNumber({ numbers, spelled }: Statement, value: string): boolean {
  return spelled.includes(value) || numbers.some((number) => number.value === value);
}

/** A path may be given by its end. */
export function hasName({ names }: Statement, name: string): boolean {
  const path = name.toLowerCase();
  return names.some((one) => path === one.toLowerCase() || path.endsWith(`/${one.toLowerCase()}`));
}

/** The statements that have this number. */
export function statementsWith({ places, statements }: OriginalIndex, key: string): readonly Statement[] {
  return (places.get(key) ?? []).map((at) => statements[at] as Statement);
}
