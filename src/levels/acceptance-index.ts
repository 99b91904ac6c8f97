import { isCritical, rankConstraints } from "./acceptance-critical.ts";
import { type ReadText, readText, type Statement } from "./acceptance-statements.ts";
import { valuesIn } from "./acceptance-values.ts";

/** What every summary of a text is asked for. */
export class Original {
  readonly read: ReadText;
  readonly critical: readonly Statement[];
  /** The names that the original repeats most. */
  readonly mainNames: readonly string[];
  #texts: ReadonlySet<string> | null = null;
  #index: OriginalIndex | null = null;

  constructor(text: string) {
    this.read = readText(text);
    const { statements } = this.read;
    this.critical = rankConstraints(statements.filter(isCritical), text.length);
    this.mainNames = mainNamesOf(statements);
  }

  /** Whether the statement stands in it as it is: then nothing else needs to be known. */
  says({ text }: Statement): boolean {
    this.#texts ??= new Set(this.read.statements.map((statement) => statement.text));
    return this.#texts.has(text) || this.index.exact.has(flatText(text));
  }

  /** Made when a statement is in other words: an extract never needs it. */
  get index(): OriginalIndex {
    this.#index ??= indexOf(this.read);
    return this.#index;
  }
}

/** The original, ready to be asked what it says about something. */
export type OriginalIndex = {
  readonly statements: readonly Statement[];
  /** In small letters and with single blanks, to look for what is quoted. */
  readonly flat: string;
  readonly exact: ReadonlySet<string>;
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** Of each number, the statements that have it. */
  readonly numbers: ReadonlyMap<string, readonly number[]>;
  readonly spelled: ReadonlySet<string>;
  /** Every number that is written in digits, also inside of what is read as a name. */
  readonly values: ReadonlySet<string>;
  /** Names, and the parts by which a reader may call them. */
  readonly names: ReadonlySet<string>;
  /** What stands between two neighbours, and which neighbours have nothing between them. */
  readonly bridges: ReadonlyMap<string, string>;
  readonly neighbours: ReadonlySet<string>;
};

/** A word that more statements have does not lead to one of them. */
const placesMax = 64;

export function indexOriginal(original: string): OriginalIndex {
  return indexOf(readText(original));
}

function indexOf({ text: original, statements }: ReadText): OriginalIndex {
  const places = new Map<string, number[]>();
  const numbers = new Map<string, number[]>();
  const allNames = new Set<string>();
  for (const [at, { words, names, numbers: found }] of statements.entries()) {
    for (const word of new Set(words)) addPlace(places, word, at);
    for (const value of new Set(found.map((number) => number.value))) {
      addPlace(numbers, value, at);
      addPlace(places, numberKey(value), at);
    }
    for (const name of names) allNames.add(name);
  }
  return {
    statements,
    flat: flatText(original),
    exact: new Set(statements.flatMap(({ text }) => [flatText(text), flatText(withoutFront(text))])),
    places,
    numbers,
    spelled: new Set(statements.flatMap(({ spelled }) => spelled)),
    values: valuesIn(original),
    names: new Set([...allNames].flatMap(partsOf)),
    ...chainsOf(statements),
  };
}

/** Without the place that a file read or a search prints in front of a line. */
export function withoutFront(text: string): string {
  return text.replace(/^\s*(?:\d+[→\t]|[\w./-]+[:-]\d+[:-])\s*/, "");
}

/** By its numbers a statement is found again too; no word looks like this. */
export function numberKey(value: string): string {
  return `#${value}`;
}

export function flatText(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

function addPlace(places: Map<string, number[]>, key: string, at: number): void {
  const known = places.get(key);
  if (known === undefined) places.set(key, [at]);
  else if (known.length < placesMax) known.push(at);
}

/** A line of a log, whose time nobody repeats. */
const stamped = /^\W*\d[\d-]*[T ]?\d*:\d\d/;
/** A row of data has facts between any two words; nothing is missed where one is left out. */
const bridgedMax = 12;

function chainsOf(statements: readonly Statement[]): Pick<OriginalIndex, "bridges" | "neighbours"> {
  const bridges = new Map<string, string>();
  const neighbours = new Set<string>();
  for (const { chain, names, pairs, numbers, text } of statements) {
    const facts = new Set(
      [...names, ...pairs, ...numbers.map(({ written }) => written)].map((fact) => fact.toLowerCase()),
    );
    const isTold = facts.size > 0 && facts.size <= bridgedMax && !stamped.test(text);
    for (let at = 0; at <= chain.length; at += 1) {
      neighbours.add(neighboursAt(chain, at - 1, at));
      const fact = chain[at];
      if (fact !== undefined && facts.has(fact) && isTold)
        bridges.set(neighboursAt(chain, at - 1, at + 1), fact);
    }
  }
  return { bridges, neighbours };
}

/** Two neighbours; at an end of a statement two stand for one, because many statements begin or end alike. */
export function neighboursAt(chain: readonly string[], left: number, right: number): string {
  const before = chain[left];
  const after = chain[right];
  if (after === undefined) return `${chain[left - 1] ?? ""} ${before ?? ""} .`;
  return before === undefined ? `. ${after} ${chain[right + 1] ?? ""}` : `${before} ${after}`;
}

/** A path may be called by its end, a dotted name by its last part. */
function partsOf(name: string): readonly string[] {
  const small = name.toLowerCase();
  const parts = [small];
  for (let at = small.indexOf("/"); at >= 0 && parts.length < 12; at = small.indexOf("/", at + 1)) {
    parts.push(small.slice(at + 1));
  }
  return parts;
}

const aDate = /^[\d:TZ.-]+$/;
const mainNamesMax = 3;
const repeatedMin = 5;

/** The names that a text is about, if it repeats any so often. */
function mainNamesOf(statements: readonly Statement[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { names } of statements) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const repeated: string[] = [];
  for (const [name, count] of counts) if (count >= repeatedMin && !aDate.test(name)) repeated.push(name);
  repeated.sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  return repeated.slice(0, mainNamesMax);
}

/** How much a shared word tells: one that every statement has tells nothing. */
export function weightOf({ places, statements }: OriginalIndex, word: string): number {
  const count = places.get(word)?.length ?? 0;
  return count === 0 ? unknownWeight : Math.log(1 + statements.length / count);
}

/** A word that the original does not have: every other wording brings some. */
const unknownWeight = 1;

export type Candidate = {
  readonly statement: Statement;
  /** The weight of the words both have, and its share in what each of them says. */
  readonly shared: number;
  readonly ofSummary: number;
  readonly ofOriginal: number;
};

const candidatesMax = 12;

/** The statements of the original that have most in common with these words, the nearest first. */
export function nearest(index: OriginalIndex, words: ReadonlySet<string>): readonly Candidate[] {
  const shared = new Map<number, number>();
  let whole = 0;
  for (const word of words) {
    const weight = weightOf(index, word);
    whole += weight;
    for (const at of index.places.get(word) ?? []) shared.set(at, (shared.get(at) ?? 0) + weight);
  }
  const found = [...shared].sort(([, a], [, b]) => b - a).slice(0, candidatesMax);
  return found.map(([at, weight]) => {
    const statement = index.statements[at] as Statement;
    const its = sum(Array.from(new Set(statement.words), (word) => weightOf(index, word)));
    return { statement, shared: weight, ofSummary: weight / whole, ofOriginal: weight / its };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
