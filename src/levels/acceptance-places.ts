import { isProse } from "./acceptance-code.ts";
import type { Reason } from "./acceptance-facts.ts";
import { type OriginalIndex, weightOf } from "./acceptance-index.ts";
import type { Statement } from "./acceptance-statements.ts";
import { type Token, tokensOf } from "./acceptance-tokens.ts";
import { isFiller, stemOf } from "./acceptance-words.ts";

/** A number or name where it stands: what is around it, each by how near it is, and its unit. */
type Place = {
  readonly fact: string;
  readonly unit: string | null;
  readonly around: ReadonlyMap<string, number>;
  /** All facts of its statement. */
  readonly among: ReadonlySet<string>;
};

/** Farther words belong to something else. */
const reachWords = 8;

/**
 * Facts that stand where the original has another. A paraphrase shares few words with its original, but the
 * words around a fact are those around it there rather than those around any other fact: so two places are
 * compared, not one with a bound.
 */
export function misplacedFacts(index: OriginalIndex, one: Statement): readonly Reason[] {
  const own = placesIn(one);
  const said = new Set(own.map(({ fact }) => fact));
  const repeated = repeatedIn(index, one, own);
  if (repeated.length > 0) return repeated;
  const instead = insteadIn(index, one);
  if (instead.length > 0) return instead;
  const swapped = swappedIn(index, one, own);
  if (swapped.length > 0) return swapped;
  return own.flatMap((place) => {
    // What the original does not have as it is was counted, or is the same in another unit.
    if (place.fact.startsWith("#") && !index.places.has(place.fact)) return [];
    const { mine, others, instead } = compared(index, place, said);
    const name = isTold(index) ? nearer.told : nearer.name;
    const { times, more } = sortOf(place.fact) === "number" ? nearer.number : name;
    if (others <= mine * times + more) return [];
    const text = `The summary puts ${shownFact(place.fact)} where the original has ${shownFact(instead)}: ${one.text}`;
    return [{ kind: "fact-elsewhere", piece: shownFact(place.fact), text } as const];
  });
}

export type ComparedPlaces = { readonly mine: number; readonly others: number; readonly instead: string };

export function compared(index: OriginalIndex, place: Place, said: ReadonlySet<string>): ComparedPlaces {
  let [mine, others, instead] = [scoreAs(index, place, place.fact) + besideScore(index, place), 0, ""];
  const sort = sortOf(place.fact);
  for (const other of candidates(index, place)) {
    const isAlike = sortOf(other.fact) === sort;
    if (!(isAlike || (isName(place.fact) && isName(other.fact) && isTold(index)))) continue;
    if (isOtherUnit(place, other)) continue;
    const isSame = isOneFact(other.fact, place.fact);
    if (!isSame && isSaid(said, other.fact)) continue;
    const isElsewhere = !isSame && isToldOtherwise(other, said, sort);
    const score =
      nearness(index, place.around, other.around) *
      (isElsewhere ? toldAlready : 1) *
      (isAlike ? 1 : otherSort);
    if (isSame) mine = Math.max(mine, score);
    else if (score > others) [others, instead] = [score, other.fact];
  }
  return { mine, others, instead };
}

/** Whether the statement of this fact is told already by another fact of it, of the same sort. */
function isToldOtherwise({ among }: Place, said: ReadonlySet<string>, sort: string): boolean {
  for (const fact of among) if (said.has(fact) && sortOf(fact) === sort) return true;
  return false;
}

function isSaid(said: ReadonlySet<string>, fact: string): boolean {
  if (said.has(fact)) return true;
  if (fact.startsWith("#")) return false;
  for (const one of said) if (isOneFact(fact, one)) return true;
  return false;
}

function shownFact(fact: string): string {
  return fact.startsWith("#") ? fact.slice(1) : fact;
}

/** A path may be called by its end. */
function isOneFact(there: string, here: string): boolean {
  return (
    there === here || there.endsWith(`/${here}`) || here.endsWith(`/${there}`) || there.endsWith(`.${here}`)
  );
}

function isOtherUnit({ unit }: Place, other: Place): boolean {
  return unit !== null && other.unit !== unit;
}

function sortOf(fact: string): string {
  if (fact.startsWith("#")) return "number";
  if (/^\d\d?:\d\d/.test(fact)) return "time";
  if (fact.startsWith("-")) return "flag";
  if (/\/|\.[a-z]{1,5}$/.test(fact)) return "path";
  if (fact.includes("_")) return "snake";
  return /\d/.test(fact) ? "id" : "name";
}

/** A fact between two words between which the original has another, of whatever sort. */
function insteadIn(
  { bridges, neighbours }: OriginalIndex,
  { chain, names, text }: Statement,
): readonly Reason[] {
  return names.flatMap((name) => {
    const fact = name.toLowerCase();
    const at = chain.indexOf(fact);
    const [before, behind] = [chain[at - 1], chain[at + 1]];
    if (before === undefined || behind === undefined || (isFiller(before) && isFiller(behind))) return [];
    const other = bridges.get(`${before} ${behind}`);
    if (other === undefined || chain.includes(other) || isOneFact(other, fact)) return [];
    if (neighbours.has(`${before} ${fact}`) || neighbours.has(`${fact} ${behind}`)) return [];
    const reason = `The summary puts ${fact} where the original has ${other}: ${text}`;
    return [{ kind: "fact-elsewhere", piece: fact, text: reason } as const];
  });
}

/** Two facts of one sort of which each stands where the original has the other. */
function swappedIn(index: OriginalIndex, one: Statement, own: readonly Place[]): readonly Reason[] {
  for (const [at, first] of own.entries()) {
    for (const second of own.slice(at + 1)) {
      if (first.fact === second.fact || sortOf(first.fact) !== sortOf(second.fact)) continue;
      const { kept, turned } = pairScores(index, first, second);
      if (turned <= kept * swapTimes + swapSum) continue;
      const piece = shownFact(first.fact);
      const text = `The summary exchanges ${piece} and ${shownFact(second.fact)}: ${one.text}`;
      return [{ kind: "fact-elsewhere", piece, text }];
    }
  }
  return [];
}

const [swapTimes, swapSum] = [1.2, 0.5] as const;

export function pairScores(
  index: OriginalIndex,
  first: Place,
  second: Place,
): { readonly kept: number; readonly turned: number } {
  return {
    kept: scoreAs(index, first, first.fact) + scoreAs(index, second, second.fact),
    turned: scoreAs(index, first, second.fact) + scoreAs(index, second, first.fact),
  };
}

/** How well a fact would stand here. */
function scoreAs(index: OriginalIndex, { around }: Place, fact: string): number {
  let best = 0;
  for (const at of index.places.get(fact) ?? []) {
    for (const place of placesIn(index.statements[at] as Statement))
      if (place.fact === fact) best = Math.max(best, nearness(index, around, place.around));
  }
  return best;
}

function besideScore(index: OriginalIndex, { around, fact }: Place): number {
  const places = index.places.get(fact) ?? [];
  return Math.max(0, ...places.map((at) => nearness(index, around, besideOf(index, at))));
}

const farLine = 1 / 8;

/** What the lines before and behind say: a heading is about what follows, a value about its heading. */
function besideOf(index: OriginalIndex, at: number): ReadonlyMap<string, number> {
  const keys = [at - 1, at + 1].flatMap((next) => {
    const statement = index.statements[next];
    return statement === undefined ? [] : tokensOf(statement).flatMap(keysOf);
  });
  return new Map(keys.filter((key) => key !== "").map((key) => [key, farLine]));
}

/** A fact that is said twice where the original says it once stands in for another. */
function repeatedIn(index: OriginalIndex, one: Statement, own: readonly Place[]): readonly Reason[] {
  const facts = own.map(({ fact }) => fact);
  const twice = new Set(facts.filter((fact, at) => facts.indexOf(fact) !== at));
  return [...twice].flatMap((fact) => {
    const there = (index.places.get(fact) ?? []).flatMap((at) => placesIn(index.statements[at] as Statement));
    if (there.filter((place) => place.fact === fact).length !== 1) return [];
    const text = `The summary says ${shownFact(fact)} twice, and the original once: ${one.text}`;
    return [{ kind: "fact-elsewhere", piece: shownFact(fact), text } as const];
  });
}

/** How much nearer another fact must be before it is taken for the one that was meant. */
const nearer = {
  number: { times: 1.25, more: 1.25 },
  name: { times: 2, more: 2.5 },
  told: { times: 1.5, more: 1.5 },
} as const;

const told = new WeakMap<OriginalIndex, boolean>();
const toldMin = 0.7;

/** Whether the original is made of sentences: what stands around a name there says what it is. */
function isTold(index: OriginalIndex): boolean {
  const before = told.get(index);
  if (before !== undefined) return before;
  const sentences = index.statements.filter(({ text }) => isProse(text)).length;
  const isSo = sentences >= toldMin * index.statements.length;
  told.set(index, isSo);
  return isSo;
}

const toldAlready = 0.7;
/** A path is seldom taken for a flag: what is of another sort must be nearer still. */
const otherSort = 0.6;

function isName(fact: string): boolean {
  return !fact.startsWith("#");
}
const placesMax = 24;

/** Where the original has the fact itself, and whatever else it has beside the same words. */
function candidates(index: OriginalIndex, { fact, around }: Place): readonly Place[] {
  const found = new Set<number>(index.places.get(fact) ?? []);
  for (const word of around.keys()) {
    const places = index.places.get(word) ?? [];
    // A word that stands nearly everywhere leads nowhere.
    if (places.length <= placesMax) for (const at of places) found.add(at);
  }
  return [...found].flatMap((at) => placesIn(index.statements[at] as Statement));
}

function nearness(
  index: OriginalIndex,
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): number {
  let sum = 0;
  for (const [word, near] of one) {
    const there = other.get(word);
    if (there !== undefined) sum += weightOf(index, word) * Math.sqrt(near * there);
  }
  return sum;
}

const factsMax = 40;

const known = new WeakMap<Statement, readonly Place[]>();

export function placesIn(statement: Statement): readonly Place[] {
  const before = known.get(statement);
  if (before !== undefined) return before;
  const tokens = tokensOf(statement);
  const facts = tokens.filter(({ sort }) => sort === "number" || sort === "name");
  const among = new Set(facts.map(({ key }) => key));
  // A row of data has a fact beside every fact: there, neighbours tell nothing.
  const places = (facts.length > factsMax ? [] : tokens).flatMap(({ key, sort }, at): readonly Place[] => {
    if (sort !== "number" && sort !== "name") return [];
    return [{ fact: key, unit: unitAt(statement, key), around: aroundOf(statement, at), among }];
  });
  known.set(statement, places);
  return places;
}

function unitAt({ numbers }: Statement, key: string): string | null {
  return numbers.find(({ value }) => `#${value}` === key)?.unit ?? null;
}

/** A path is also known by the last part of it, without what tells its sort. */
function keysOf({ key, sort }: Token): readonly string[] {
  if (sort !== "name") return [key];
  const last = /[^/.]+(?=\.[a-z]{1,5}$|$)/.exec(key)?.[0] ?? key;
  return last === key ? [key] : [key, stemOf(last)];
}

/** Units are compared for themselves, and say nothing about what is measured. */
function aroundOf(statement: Statement, at: number): ReadonlyMap<string, number> {
  const tokens = tokensOf(statement);
  const around = new Map<string, number>();
  for (const step of [-1, 1]) {
    let far = 1;
    for (let next = at + step; far <= reachWords && next >= 0 && next < tokens.length; next += step) {
      const token = tokens[next];
      if (token === undefined || token.sort === "filler" || token.sort === "unit") continue;
      for (const key of keysOf(token)) around.set(key, Math.max(around.get(key) ?? 0, 1 / far));
      far += 1;
    }
  }
  return around;
}
