import { neighboursAt, type OriginalIndex } from "./acceptance-index.ts";
import { isCount, isKnownNumber, isOneSort, isSameAmount } from "./acceptance-numbers.ts";
import type { NumberFact, Statement } from "./acceptance-statements.ts";
import { isFiller, markOf, stemOf } from "./acceptance-words.ts";

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
      .filter((number) => !isKnownNumber(index, number) && !isCount(index, one, number))
      .map(({ written }) => invented("number", written)),
    ...one.names
      .filter((name) => !isKnownName(index, name) && !wellKnown.test(name))
      .map((name) => invented("name", name)),
    ...one.quotes.filter((quote) => !isKnownQuote(index, quote)).map((quote) => invented("quote", quote)),
    ...one.pairs.filter((pair) => !isKnownPair(index, pair)).map((pair) => invented("name", pair)),
    ...one.numbers.flatMap((number) => unitReason(index, number)),
  ];
}

/** What everybody calls so, whatever an original says. */
const wellKnown =
  /^(?:TypeScript|JavaScript|GitHub|GitLab|PostgreSQL|MySQL|SQLite|MongoDB|GraphQL|OpenAPI|macOS|iOS|WebSocket|DevOps|PyPI|NumPy|README)$/;

const called = { number: "The number", name: "The name", quote: "The quoted text" } as const;

function invented(what: keyof typeof called, piece: string): Reason {
  return {
    kind: `invented-${what}`,
    piece,
    text: `${called[what]} ${piece} does not occur in the original.`,
  };
}

export function isKnownName({ names, flat }: OriginalIndex, name: string): boolean {
  const small = name.toLowerCase();
  return names.has(small) || standsIn(flat, small) || (aTime.test(small) && flat.includes(`t${small}`));
}

const aTime = /^\d\d:\d\d/;

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
function unitReason(index: OriginalIndex, { value, written, unit }: NumberFact): readonly Reason[] {
  const { numbers, statements } = index;
  const places = numbers.get(value) ?? [];
  if (unit === null || places.length === 0) return [];
  const units = places.flatMap((at) => unitsOf(statements[at], value));
  const other = units.find((one) => one !== null) ?? null;
  // Without a unit it may be a number of anything; with another of the same sort it is not this one.
  if (other === null || units.includes(unit)) return [];
  if (units.includes(null) && !units.some((one) => one !== null && isOneSort(one, unit))) return [];
  if (isSameAmount(index, value, unit)) return [];
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
    // What stood at the end may be left out with it.
    if (at === chain.length && !isFiller(chain[at - 1] ?? "")) continue;
    reasons.push({ kind: "fact-lost", piece, text: `The summary leaves ${piece} out of "${key}".` });
  }
  return reasons;
}
