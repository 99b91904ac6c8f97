import type { OriginalIndex } from "./acceptance-index.ts";
import type { NumberFact, Statement } from "./acceptance-statements.ts";
import { isFiller, numberOfWord, stemOf, unitOf } from "./acceptance-words.ts";

const families: readonly Readonly<Record<string, readonly number[]>>[] = [
  { us: [0.001], ms: [1], s: [1_000], min: [60_000], h: [3_600_000], d: [86_400_000], week: [604_800_000] },
  { B: [1], KB: [1_000, 1_024], MB: [1e6, 1_048_576], GB: [1e9, 1_073_741_824], TB: [1e12, 2 ** 40] },
  { mm: [1], cm: [10], km: [1e6] },
];

/** Whether both measure the same: times, or sizes. */
export function isOneSort(one: string, other: string): boolean {
  return families.some((family) => one in family && other in family);
}

/** What the number is in other units of its sort, exactly: "30 s" is "30000 ms". */
function sameAmounts(value: string, unit: string): readonly { value: string; unit: string }[] {
  const family = families.find((one) => unit in one);
  const factors = family?.[unit];
  if (family === undefined || factors === undefined) return [];
  return Object.entries(family).flatMap(([other, sizes]) =>
    sizes.flatMap((size, at) => {
      const amount = (Number(value) * (factors[at] ?? factors[0] ?? 1)) / size;
      return other === unit ? [] : [{ value: String(Number(amount.toPrecision(12))), unit: other }];
    }),
  );
}

/** Whether the original has the number, as it is or in another unit. */
export function isKnownNumber(index: OriginalIndex, { value, unit }: NumberFact): boolean {
  if (index.numbers.has(value) || index.values.has(value)) return true;
  return isSameAmount(index, value, unit);
}

export function isSameAmount(index: OriginalIndex, value: string, unit: string | null): boolean {
  if (unit === null) return false;
  return sameAmounts(value, unit).some((amount) =>
    (index.numbers.get(amount.value) ?? []).some((at) =>
      index.statements[at]?.numbers.some((one) => one.value === amount.value && one.unit === amount.unit),
    ),
  );
}

/** More cannot be counted at a glance, and nobody does. */
const countedMax = 50;
/** The thing that is counted stands right behind its number, or its name before it: "open (6 uses)". */
const nounReach = 2;

/**
 * Whether the number says in digits what the original writes out, or counts what it has so many times: "5
 * errors" of five lines with that word. Where the original gives a number of its own for the same thing,
 * that is the one.
 */
export function isCount(index: OriginalIndex, one: Statement, { value, written, unit }: NumberFact): boolean {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1 || count > countedMax) return false;
  const at = one.chain.indexOf(written.toLowerCase());
  const behind = one.chain.slice(at + 1, at + 1 + nounReach);
  const near = [...behind, one.chain[at - 1] ?? ""].filter((word) => !isFiller(word) && !/^\d/.test(word));
  if (near.some((word) => isWrittenOut(index, value, stemOf(word)))) return true;
  if (unit !== null) return isWrittenOut(index, value, unit);
  const noun = stemOf(near[0] ?? "");
  // "5 todos" of a list that does not call them so.
  if (noun !== "" && !index.places.has(noun) && timesIn(index.flat, noun) === 0)
    return isSomeCount(index, count);
  return near.some((word) => !isGiven(index, word) && timesIn(index.flat, stemOf(word)) === count);
}

/** Whether the original has any word, such as the key of a record, so many times. */
function isSomeCount({ places, statements }: OriginalIndex, count: number): boolean {
  if (statements.length === count) return true;
  for (const at of places.values()) if (at.length === count && count > 1) return true;
  return false;
}

/** Whether the original writes the number out beside this word or unit. */
function isWrittenOut({ statements, spelled }: OriginalIndex, value: string, word: string): boolean {
  if (!spelled.has(value)) return false;
  return statements.some(({ spelled: own, chain }) => {
    if (!own.includes(value)) return false;
    return chain.some((next, at) => {
      const isNear = stemOf(next) === word || unitOf(next) === word;
      return (
        isNear &&
        chain.slice(Math.max(0, at - nounReach - 1), at + 2).some((one) => numberOfWord(one) === value)
      );
    });
  });
}

function isGiven({ statements }: OriginalIndex, word: string): boolean {
  return statements.some(({ chain }) =>
    chain.some((next, at) => next === word && /^\d+$/.test(chain[at - 1] ?? "")),
  );
}

function timesIn(flat: string, stem: string): number {
  let times = 0;
  for (
    let at = flat.indexOf(stem);
    at >= 0 && times <= countedMax;
    at = flat.indexOf(stem, at + stem.length)
  ) {
    if (!/[\p{L}\p{N}]/u.test(flat.charAt(at - 1))) times += 1;
  }
  return times;
}
