import { neighboursAt, type OriginalIndex, weightOf } from "./acceptance-index.ts";
import type { NumberFact, Statement } from "./acceptance-statements.ts";
import { isFiller, markOf, stemOf, unitOf } from "./acceptance-words.ts";

export type ReasonKind =
  | "invented-number"
  | "invented-name"
  | "invented-quote"
  | "fact-elsewhere"
  | "quote-changed"
  | "unit-changed"
  | "negation-lost"
  | "negation-added"
  | "constraint-lost"
  | "outcome-turned"
  | "fact-lost"
  | "constraint-missing"
  | "names-missing";

/** Why a summary is refused: a sentence for its reader, and the piece it is about. */
export type Reason = { readonly kind: ReasonKind; readonly piece: string; readonly text: string };

/** What the summary says and the original does not have at all. */
export function inventedIn(index: OriginalIndex, one: Statement): readonly Reason[] {
  return [
    ...one.numbers
      .filter((number) => !isKnownNumber(index, number))
      .map(({ written }) => invented("number", written)),
    ...one.names.filter((name) => !isKnownName(index, name)).map((name) => invented("name", name)),
    ...one.quotes.filter((quote) => !isKnownQuote(index, quote)).map((quote) => invented("quote", quote)),
    ...one.pairs.filter((pair) => !isKnownPair(index, pair)).map((pair) => invented("name", pair)),
    ...one.numbers.flatMap((number) => unitReason(index, number)),
  ];
}

const called = { number: "The number", name: "The name", quote: "The quoted text" } as const;

function invented(what: keyof typeof called, piece: string): Reason {
  return {
    kind: `invented-${what}`,
    piece,
    text: `${called[what]} ${piece} does not occur in the original.`,
  };
}

export function isKnownNumber({ numbers, spelled }: OriginalIndex, { value }: NumberFact): boolean {
  return numbers.has(value) || spelled.has(value);
}

export function isKnownName({ names, flat }: OriginalIndex, name: string): boolean {
  const small = name.toLowerCase();
  return names.has(small) || standsIn(flat, small);
}

/** As a whole: not in the middle of a longer word. */
function standsIn(flat: string, name: string): boolean {
  for (let at = flat.indexOf(name); at >= 0; at = flat.indexOf(name, at + name.length)) {
    if (!isWordSign(flat[at - 1]) && !isWordSign(flat[at + name.length])) return true;
  }
  return false;
}

function isWordSign(sign: string | undefined): boolean {
  return sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);
}

/** A choice of two words may be new if the words are not. */
function isKnownPair({ flat, places }: OriginalIndex, pair: string): boolean {
  const small = pair.toLowerCase();
  if (flat.includes(small)) return true;
  return small
    .split("/")
    .every((word) => isFiller(word) || markOf(word, "") !== null || places.has(stemOf(word)));
}

function isKnownQuote({ flat }: OriginalIndex, quote: string): boolean {
  const small = quote.replace(/\s+/g, " ").toLowerCase().trim();
  return flat.includes(small) || flat.includes(small.replace(/[.,!?:;]$/, ""));
}

/** Only if no place of the original has the number with this unit, or with none. */
function unitReason(
  { numbers, statements }: OriginalIndex,
  { value, written, unit }: NumberFact,
): readonly Reason[] {
  const places = numbers.get(value) ?? [];
  if (unit === null || places.length === 0) return [];
  const units = places.flatMap((at) => unitsOf(statements[at], value));
  const other = units[0] ?? null;
  if (other === null || units.some((one) => one === unit || one === null)) return [];
  const text = `The number ${written} has the unit ${unit} here, and ${other} in the original.`;
  return [{ kind: "unit-changed", piece: written, text }];
}

function unitsOf(statement: Statement | undefined, value: string): readonly (string | null)[] {
  return (statement?.numbers ?? []).filter((number) => number.value === value).map(({ unit }) => unit);
}

/** Units that nobody writes without a number. */
const bareUnit = /^(?:ms|kb|mb|gb|tb|kib|mib|gib|%)$/;

function lostNumber(unit: string): Reason {
  return { kind: "fact-lost", piece: unit, text: `The unit ${unit} stands without its number.` };
}

/**
 * A number or name of the original that was cut out from between its neighbours, or a unit that lost its
 * number. Two fillers may come together anywhere.
 */
export function cutOut(
  { bridges, neighbours }: OriginalIndex,
  { chain, text }: Statement,
): readonly Reason[] {
  const reasons: Reason[] = [];
  for (let at = 0; at <= chain.length; at += 1) {
    const key = neighboursAt(chain, at - 1, at);
    const piece = bridges.get(key);
    if (neighbours.has(key)) continue;
    const isUnit = bareUnit.test(chain[at] ?? "") && !text.includes("Ms. ");
    if (isUnit && !/\d/.test(chain[at - 1] ?? "")) reasons.push(lostNumber(chain[at] ?? ""));
    if (isFiller(chain[at - 1] ?? "") && isFiller(chain[at] ?? "")) continue;
    if (piece === undefined || chain.includes(piece)) continue;
    reasons.push({ kind: "fact-lost", piece, text: `The summary leaves ${piece} out of "${key}".` });
  }
  return reasons;
}

/** So much of what is said beside a number must be said beside it in the original too. */
const besideMin = 0.25;

/** Numbers that the original has, but says about something else. */
export function numbersElsewhere(index: OriginalIndex, one: Statement): readonly Reason[] {
  const words = new Set(one.words);
  if (words.size < 2) return [];
  let whole = 0;
  for (const word of words) whole += weightOf(index, word);
  return one.numbers.flatMap((number) => {
    const { value, written } = number;
    const places = index.numbers.get(value) ?? [];
    const isBeside =
      isBesideSame(index, number) || places.some((at) => sharedWeight(index, words, at) >= besideMin * whole);
    if (isBeside || places.length === 0 || index.spelled.has(value)) return [];
    const text = `The number ${written} stands in the original, but about something else.`;
    return [{ kind: "fact-elsewhere", piece: written, text } as const];
  });
}

/** Whether the original has the number with the same word behind it, such as its unit. */
export function isBesideSame({ numbers, statements }: OriginalIndex, { value, beside }: NumberFact): boolean {
  const isWord = /\p{L}{2}/u.test(beside.after) && !isFiller(beside.after);
  if (!isWord && unitOf(beside.after) === null) return false;
  return (numbers.get(value) ?? []).some((at) =>
    statements[at]?.numbers.some((number) => number.value === value && number.beside.after === beside.after),
  );
}

function sharedWeight(index: OriginalIndex, words: ReadonlySet<string>, at: number): number {
  let weight = 0;
  for (const word of new Set(index.statements[at]?.words))
    if (words.has(word)) weight += weightOf(index, word);
  return weight;
}
