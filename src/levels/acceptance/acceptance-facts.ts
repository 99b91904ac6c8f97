import { type OriginalIndex, statementsWith } from "./acceptance-index.ts";
import type { Reason } from "./acceptance-reasons.ts";
import { type NumberFact, numberKey, type Statement } from "./acceptance-text.ts";
import { isFiller } from "./acceptance-words.ts";

/** Facts of the summary that the original does not have at all. */
export function inventedFacts(index: OriginalIndex, one: Statement): readonly Reason[] {
  const pairs = one.text.match(wordPair) ?? [];
  return [
    ...one.numbers
      .filter((number) => !isKnownNumber(index, number) && !isCount(index, one, number))
      .map(({ written }) => inventedFact("number", written)),
    ...[...one.names, ...pairs]
      .filter((name) => !isKnownName(index, name) && !wellKnown.test(name))
      .map((name) => inventedFact("name", name)),
    ...one.quotes.filter((quote) => !isKnownQuote(index, quote)).map((quote) => inventedFact("quote", quote)),
    ...one.numbers.flatMap((number) => changedUnit(index, number)),
  ];
}

/** Names that need no original. */
const wellKnown =
  /^(?:TypeScript|JavaScript|GitHub|GitLab|PostgreSQL|MySQL|SQLite|MongoDB|GraphQL|OpenAPI|macOS|iOS|WebSocket|DevOps|PyPI|NumPy|README)$/;

const called = { number: "The number", name: "The name", quote: "The quoted text" } as const;

function inventedFact(what: keyof typeof called, piece: string): Reason {
  return {
    kind: `invented-${what}`,
    piece,
    text: `${called[what]} ${piece} does not occur in the original.`,
  };
}

const wordPair = /(?<![\p{L}\p{N}_/.-])\p{L}+\/\p{L}+(?![\p{L}\p{N}_/.-])/gu;

/** "Read/write" is known if both words are. */
function isKnownName({ names, flat }: OriginalIndex, name: string): boolean {
  const small = name.toLowerCase();
  if (names.has(small) || hasWhole(flat, small) || (/^\d\d:\d\d/.test(small) && flat.includes(`t${small}`)))
    return true;
  return (
    /^\p{L}+\/\p{L}+$/u.test(small) && small.split("/").every((part) => isFiller(part) || flat.includes(part))
  );
}

/** Not in the middle of a longer word. */
function hasWhole(flat: string, name: string): boolean {
  const isLetter = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);
  for (let at = flat.indexOf(name); at >= 0; at = flat.indexOf(name, at + name.length)) {
    if (!isLetter(flat[at - 1]) && !isLetter(flat[at + name.length])) return true;
  }
  return false;
}

function isKnownQuote({ flat }: OriginalIndex, quote: string): boolean {
  return flat.includes(
    quote
      .replace(/\s+/g, " ")
      .toLowerCase()
      .trim()
      .replace(/[.,!?:;]$/, ""),
  );
}

/** A number whose unit is another one wherever the original has it. */
function changedUnit(index: OriginalIndex, { value, written, unit }: NumberFact): readonly Reason[] {
  if (unit === null) return [];
  const there = statementsWith(index, numberKey(value)).flatMap(({ numbers }) =>
    numbers.filter((number) => number.value === value).map((number) => number.unit),
  );
  const other = there.find((one) => one !== null) ?? null;
  if (other === null || there.includes(unit)) return [];
  // Without a unit it may be a number of anything, unless another unit of the same sort is there.
  if (there.includes(null) && !there.some((one) => one !== null && isOneSort(one, unit))) return [];
  if (isSameAmount(index, value, unit)) return [];
  const text = `The number ${written} has the unit ${unit} here, and ${other} in the original.`;
  return [{ kind: "unit-changed", piece: written, text }];
}

const families: readonly Readonly<Record<string, readonly number[]>>[] = [
  { us: [0.001], ms: [1], s: [1_000], min: [60_000], h: [3_600_000], day: [86_400_000], week: [604_800_000] },
  { B: [1], KB: [1_000, 1_024], MB: [1e6, 1_048_576], GB: [1e9, 1_073_741_824], TB: [1e12, 2 ** 40] },
  { mm: [1], cm: [10], km: [1e6] },
];

function isOneSort(one: string, other: string): boolean {
  return families.some((family) => one in family && other in family);
}

function isKnownNumber(index: OriginalIndex, { value, unit }: NumberFact): boolean {
  return index.places.has(numberKey(value)) || index.values.has(value) || isSameAmount(index, value, unit);
}

/** Whether the original has the number in another unit: "30 s" is "30000 ms" and `WAIT_MS = 30_000`. */
function isSameAmount(index: OriginalIndex, value: string, unit: string | null): boolean {
  const family = families.find((one) => unit !== null && unit in one) ?? {};
  const factors = family[unit ?? ""] ?? [];
  return Object.entries(family).some(([other, sizes]) =>
    sizes.some((size, at) => {
      const amount = (Number(value) * (factors[at] ?? factors[0] ?? 1)) / size;
      const same = String(Number(amount.toPrecision(12)));
      return statementsWith(index, numberKey(same)).some(({ numbers }) =>
        numbers.some(
          (one) =>
            one.value === same && other !== unit && (one.unit ?? (amount < 1_000 ? "" : other)) === other,
        ),
      );
    }),
  );
}

/** A person who writes a summary counts no more things than this. */
const countedMax = 50;

/** Whether the number counts a word that the original has so many times: "5 errors". */
function isCount(index: OriginalIndex, one: Statement, { value, written, unit }: NumberFact): boolean {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1 || count > countedMax || unit !== null) return false;
  const at = one.tokens.findIndex(({ word }) => word === written.toLowerCase());
  const near = [one.tokens[at + 1], one.tokens[at + 2], one.tokens[at - 1]]
    .map((token) => token?.key ?? "")
    .filter((key) => /^\p{L}/u.test(key));
  const noun = near[0];
  // "5 todos" of a list that does not call them so.
  if (noun !== undefined && timesIn(index.flat, noun) === 0)
    return (
      index.statements.length === count ||
      [...index.places.values()].some(({ length }) => length === count && count > 1)
    );
  return near.some((key) => timesIn(index.flat, key) === count);
}

function timesIn(flat: string, stem: string): number {
  let times = 0;
  for (let at = flat.indexOf(stem); at >= 0 && times <= countedMax; at = flat.indexOf(stem, at + stem.length))
    if (!/[\p{L}\p{N}]/u.test(flat.charAt(at - 1))) times += 1;
  return times;
}
