import { must } from "../../base/index.ts";

/**
 * Indexes of two lists that belong together, in the order of the second list. An empty `before` is an
 * insertion, an empty `after` a removal.
 */
export type ListAlignment = { readonly before: readonly number[]; readonly after: readonly number[] };

/** Matches two items by a name that both have. Null if the item has no name under this rule. */
export type MatchRule = {
  readonly before: (at: number) => string | null;
  readonly after: (at: number) => string | null;
  /** Whether a name only counts if it occurs once on each side. */
  readonly isUnique: boolean;
};

/** Items between two matches that no rule has matched. */
export type AlignmentGap = ListAlignment;

/** Aligns what no rule has matched, by comparing contents. */
export type GapMatcher = (gap: AlignmentGap) => readonly ListAlignment[];

export type ListSizes = { readonly before: number; readonly after: number };

/**
 * Aligns two lists by one rule after the other, each within the gaps that the rules before have left. Both
 * orders are kept. The time is roughly linear in the length of the lists.
 */
export function alignLists(
  sizes: ListSizes,
  rules: readonly MatchRule[],
  matchGap: GapMatcher,
): readonly ListAlignment[] {
  const whole = { before: indexes(sizes.before), after: indexes(sizes.after) };
  return alignGap(whole, rules, matchGap);
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

function alignGap(
  gap: AlignmentGap,
  rules: readonly MatchRule[],
  matchGap: GapMatcher,
): readonly ListAlignment[] {
  if (gap.before.length === 0 || gap.after.length === 0) return unmatched(gap);
  const [rule, ...rest] = rules;
  if (rule === undefined) return matchGap(gap);
  const pairs = pairsIn(gap, rule);
  const aligned: ListAlignment[] = [];
  let [before, after] = [0, 0];
  for (const pair of [...pairs, null]) {
    const end = pair ?? { before: gap.before.length, after: gap.after.length };
    const between = {
      before: gap.before.slice(before, end.before),
      after: gap.after.slice(after, end.after),
    };
    for (const alignment of alignGap(between, rest, matchGap)) aligned.push(alignment);
    if (pair === null) break;
    aligned.push({ before: [at(gap.before, pair.before)], after: [at(gap.after, pair.after)] });
    [before, after] = [pair.before + 1, pair.after + 1];
  }
  return aligned;
}

/** Lists removals first, then insertions. */
export function unmatched({ before, after }: AlignmentGap): readonly ListAlignment[] {
  return [
    ...before.map((index) => ({ before: [index], after: [] })),
    ...after.map((index) => ({ before: [], after: [index] })),
  ];
}

type IndexPair = { readonly before: number; readonly after: number };

/** Pairs the first of a name with the first, the second with the second, as far as both orders allow. */
function pairsIn(gap: AlignmentGap, rule: MatchRule): readonly IndexPair[] {
  const indexesByName = new Map<string, number[]>();
  for (const [index, item] of gap.before.entries()) {
    const name = rule.before(item);
    if (name === null) continue;
    const indexes = indexesByName.get(name);
    if (indexes === undefined) indexesByName.set(name, [index]);
    else indexes.push(index);
  }
  const taken = new Map<string, number>();
  const pairs: IndexPair[] = [];
  const counts = rule.isUnique ? countsOf(gap.after, rule.after) : null;
  for (const [index, item] of gap.after.entries()) {
    const name = rule.after(item);
    const candidates = name === null ? undefined : indexesByName.get(name);
    if (name === null || candidates === undefined) continue;
    if (counts !== null && (candidates.length > 1 || counts.get(name) !== 1)) continue;
    const nth = taken.get(name) ?? 0;
    taken.set(name, nth + 1);
    const before = candidates[nth];
    if (before !== undefined) pairs.push({ before, after: index });
  }
  return longestRising(pairs);
}

function countsOf(list: readonly number[], nameOf: MatchRule["after"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of list) {
    const name = nameOf(item);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The longest subsequence of pairs whose first indexes rise, as their second indexes already do. */
function longestRising(pairs: readonly IndexPair[]): readonly IndexPair[] {
  const ends: number[] = [];
  const previous: (number | null)[] = [];
  for (const [index, { before }] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (must(pairs[at(ends, middle)], "ends are pairs").before < before) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? null : at(ends, low - 1));
    ends[low] = index;
  }
  const chosen: IndexPair[] = [];
  for (let end: number | null = ends.at(-1) ?? null; end !== null; end = previous[end] ?? null)
    chosen.push(must(pairs[end], "ends are pairs"));
  return chosen.reverse();
}

function at(list: readonly number[], index: number): number {
  return must(list[index], "it lies in the list");
}
