import { must } from "../../base/index.ts";

/**
 * What stands for what in two lists, by their indexes, in the order of the second. Nothing before: it was
 * put in. Nothing after: it was left out.
 */
export type Aligned = { readonly before: readonly number[]; readonly after: readonly number[] };

/** A way to know two things for the same: by a name that both have. Null: it has none in this way. */
export type Naming = {
  readonly before: (at: number) => string | null;
  readonly after: (at: number) => string | null;
  /** Whether only names count that stand once on each side. */
  readonly isUnique: boolean;
};

/** The last resort between two neighbours that nothing else has told: looks at what they say. */
export type Closer = (gap: Gap) => readonly Aligned[];
export type Gap = Aligned;

/**
 * Aligns two lists by one naming after the other, each within what the ones before have left. The order of
 * both is kept. It takes little more time than the lists are long.
 */
export function align(sizes: Sizes, namings: readonly Naming[], closer: Closer): readonly Aligned[] {
  const whole = { before: indexes(sizes.before), after: indexes(sizes.after) };
  return alignGap(whole, namings, closer);
}
export type Sizes = { readonly before: number; readonly after: number };

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

function alignGap(gap: Gap, namings: readonly Naming[], closer: Closer): readonly Aligned[] {
  if (gap.before.length === 0 || gap.after.length === 0) return apart(gap);
  const [naming, ...rest] = namings;
  if (naming === undefined) return closer(gap);
  const pairs = pairsIn(gap, naming);
  const aligned: Aligned[] = [];
  let [before, after] = [0, 0];
  for (const pair of [...pairs, null]) {
    const end = pair ?? { before: gap.before.length, after: gap.after.length };
    const between = {
      before: gap.before.slice(before, end.before),
      after: gap.after.slice(after, end.after),
    };
    for (const one of alignGap(between, rest, closer)) aligned.push(one);
    if (pair === null) break;
    aligned.push({ before: [at(gap.before, pair.before)], after: [at(gap.after, pair.after)] });
    [before, after] = [pair.before + 1, pair.after + 1];
  }
  return aligned;
}

/** What was left out comes first, then what was put in. */
export function apart({ before, after }: Gap): readonly Aligned[] {
  return [
    ...before.map((one) => ({ before: [one], after: [] })),
    ...after.map((one) => ({ before: [], after: [one] })),
  ];
}

type Pair = { readonly before: number; readonly after: number };

/** The first of a name with the first, the second with the second, as far as their order allows. */
function pairsIn(gap: Gap, naming: Naming): readonly Pair[] {
  const named = new Map<string, number[]>();
  for (const [index, one] of gap.before.entries()) {
    const name = naming.before(one);
    if (name === null) continue;
    const known = named.get(name);
    if (known === undefined) named.set(name, [index]);
    else known.push(index);
  }
  const taken = new Map<string, number>();
  const pairs: Pair[] = [];
  const counts = naming.isUnique ? countsOf(gap.after, naming.after) : null;
  for (const [index, one] of gap.after.entries()) {
    const name = naming.after(one);
    const found = name === null ? undefined : named.get(name);
    if (name === null || found === undefined) continue;
    if (counts !== null && (found.length > 1 || counts.get(name) !== 1)) continue;
    const nth = taken.get(name) ?? 0;
    taken.set(name, nth + 1);
    const before = found[nth];
    if (before !== undefined) pairs.push({ before, after: index });
  }
  return rising(pairs);
}

function countsOf(list: readonly number[], nameOf: Naming["after"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) {
    const name = nameOf(one);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The longest choice of pairs whose first indexes rise as their second ones do. */
function rising(pairs: readonly Pair[]): readonly Pair[] {
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
  const chosen: Pair[] = [];
  for (let one: number | null = ends.at(-1) ?? null; one !== null; one = previous[one] ?? null)
    chosen.push(must(pairs[one], "ends are pairs"));
  return chosen.reverse();
}

function at(list: readonly number[], index: number): number {
  return must(list[index], "it lies in the list");
}
