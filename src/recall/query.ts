import { folded, name, pair, part, piece, type TermSort, Terms, word } from "./terms.ts";

export type QueryTerm = {
  readonly hash: number;
  readonly weight: number;
  /** What really has to stand in a text: a number may be shared. */
  readonly fold: string;
  readonly isPiece: boolean;
};

/** What is said beyond this adds nothing. */
const charsMax = 2_000;
const termsMax = 64;

/** A name tells more than a word, and what it is put together from much less: that stands elsewhere too. */
const weights: Readonly<Record<TermSort, number>> = {
  [word]: 1,
  [name]: 2,
  [pair]: 1.5,
  [part]: 0.5,
  [piece]: 0.3,
};

/** The different terms of a question, in their order. */
export function queryTerms(query: string, seed: number): readonly QueryTerm[] {
  const text = query.slice(0, charsMax);
  const terms = new Terms(seed);
  terms.read(text);
  const found = new Map<number, QueryTerm>();
  for (const [at, hash] of terms.hashes.entries()) {
    const sort = terms.sorts[at] ?? word;
    const weight = weights[sort] ?? 0;
    const known = found.get(hash);
    if (known === undefined ? found.size >= termsMax : known.weight >= weight) continue;
    const fold = folded(text, { from: terms.starts[at] ?? 0, to: terms.ends[at] ?? 0 });
    found.set(hash, { hash, weight, fold, isPiece: sort === piece });
  }
  return [...found.values()];
}
