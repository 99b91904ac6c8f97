import {
  foldTerm,
  nameTerm,
  pairTerm,
  partTerm,
  pieceTerm,
  type TermKind,
  TermReader,
  wordTerm,
} from "./terms.ts";

export type QueryTerm = {
  readonly hash: number;
  readonly weight: number;
  /** The folded term, which must occur in a text, because two terms may share a hash. */
  readonly fold: string;
  readonly isPiece: boolean;
};

/** Longer queries are cut: more text adds nothing. */
const charsMax = 2_000;
const termsMax = 64;

/** A name tells more than a word, and its pieces tell much less, because they occur elsewhere too. */
const weights: Readonly<Record<TermKind, number>> = {
  [wordTerm]: 1,
  [nameTerm]: 2,
  [pairTerm]: 1.5,
  [partTerm]: 0.5,
  [pieceTerm]: 0.3,
};

/** The distinct terms of a query, in order. */
export function queryTerms(query: string, seed: number): readonly QueryTerm[] {
  const text = query.slice(0, charsMax);
  const terms = new TermReader(seed);
  terms.read(text);
  const found = new Map<number, QueryTerm>();
  for (const [at, hash] of terms.hashes.entries()) {
    const kind = terms.kinds[at] ?? wordTerm;
    const weight = weights[kind] ?? 0;
    const known = found.get(hash);
    if (known === undefined ? found.size >= termsMax : known.weight >= weight) continue;
    const fold = foldTerm(text, { from: terms.starts[at] ?? 0, to: terms.ends[at] ?? 0 });
    found.set(hash, { hash, weight, fold, isPiece: kind === pieceTerm });
  }
  return [...found.values()];
}
