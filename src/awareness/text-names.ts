import { assert } from "../base/index.ts";

/** A distinctive name, as written, and how often the text has it. */
export type NameCount = { readonly name: string; readonly count: number };

/** Shorter names match by chance; longer ones cost more than they help. */
const nameCharsMin = 8;
const nameCharsMax = 160;

/** More names of one text do not help: a later query finds the block by its other names. */
const namesMaxUsual = 256;

/** Distinct names that are counted before repeated ones are preferred. */
const countedMax = 4_096;

/**
 * The names by which a text can be found again, in the order of their first position: paths, snake_case,
 * camelCase, dotted and numbered names. Reads each character once. If there are too many names, repeated ones
 * are kept, and among them the first.
 */
export function namesIn(text: string, namesMax = namesMaxUsual): readonly NameCount[] {
  assert(Number.isInteger(namesMax) && namesMax >= 0, "a number of names is whole");
  const counts = countNames(text);
  const all = Array.from(counts, ([name, count]) => ({ name, count }));
  if (all.length <= namesMax) return all;
  const counted = all.map((one, order) => ({ ...one, order }));
  counted.sort((a, b) => b.count - a.count || a.order - b.order);
  const kept = counted.slice(0, namesMax).sort((a, b) => a.order - b.order);
  return kept.map(({ name, count }) => ({ name, count }));
}

/**
 * Estimates the o200k tokens of a name in a list, with the blank before it; off by one on average. The
 * tokenizer cuts at capitals and signs; a word of up to six letters is one token, a longer one two or more.
 */
export function nameTokens(name: string): number {
  let tokens = 0;
  let run = 0;
  let before: CharacterClass = none;
  for (let at = 0; at < name.length; at += 1) {
    const sort = sortAt(name, at);
    const goesOn = sort === before || (before === upper && sort === lower && run === 1);
    run = goesOn ? run + 1 : 1;
    tokens += goesOn ? furtherCost(sort, run) : firstCost(sort);
    before = sort;
  }
  return Math.max(1, tokens - 0.4);
}

/** True if the text has the name as a word, or as a part of a path or a dotted name. */
export function holdsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + name.length)) return true;
  }
  return false;
}

/** The class of a character in a name; `none` ends it. The last three join parts and never end a name. */
type CharacterClass = number;
const none = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const underscore = 4;
/** - ~ @ $ */
const sign = 5;
const slash = 6;
const dot = 7;

/** One entry per character code, so that the loop has no branches. */
const sorts = sortTable();

function sortTable(): Uint8Array {
  const table = new Uint8Array(65_536);
  for (let code = 97; code <= 122; code += 1) table[code] = lower;
  for (let code = 65; code <= 90; code += 1) table[code] = upper;
  for (let code = 48; code <= 57; code += 1) table[code] = digit;
  table[95] = underscore;
  for (const character of "-~@$") table[character.charCodeAt(0)] = sign;
  table[47] = slash;
  table[46] = dot;
  return table;
}

/** `none` beyond either end of the text. */
function sortAt(text: string, at: number): CharacterClass {
  return at >= 0 && at < text.length ? (sorts[text.charCodeAt(at)] ?? none) : none;
}

function isWordAt(text: string, at: number): boolean {
  const sort = sortAt(text, at);
  return sort !== none && sort < sign;
}

/** Runs over every character of every new block, so it is one plain loop without calls. */
function countNames(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  let start = 0;
  let isName = false;
  let [before, last]: [CharacterClass, CharacterClass] = [none, none];
  for (let at = 0; at < text.length; at += 1) {
    const sort = sorts[text.charCodeAt(at)] ?? none;
    if (sort === none) {
      if (isName) countName(counts, nameBetween(text, start, at));
      isName = false;
    } else {
      if (last === none) start = at;
      if (sort === digit || (sort === upper && last === lower)) isName = true;
      else if (last >= underscore && joins(before, last, sort)) isName = true;
    }
    before = last;
    last = sort;
  }
  if (isName) countName(counts, nameBetween(text, start, text.length));
  return counts;
}

/** True if the middle of three characters joins parts of a name: an underscore, a slash or a dot. */
function joins(before: CharacterClass, middle: CharacterClass, next: CharacterClass): boolean {
  if (before === none || before >= sign) return false;
  if (middle === underscore) return next < sign;
  if (middle === slash) return next < sign || next === dot;
  return middle === dot && next <= upper;
}

function countName(counts: Map<string, number>, name: string | null): void {
  if (name === null) return;
  const count = counts.get(name);
  if (count !== undefined) counts.set(name, count + 1);
  else if (counts.size < countedMax) counts.set(name, 1);
}

function nameBetween(text: string, start: number, end: number): string | null {
  let to = end;
  while (to > start && sortAt(text, to - 1) >= sign) to -= 1;
  const from = skipStart(text, start, to);
  if (to - from < nameCharsMin || to - from > nameCharsMax) return null;
  const name = text.slice(from, to);
  // A number with a unit or a moment in time is not a name; a hash and a test case are.
  return hasLetters(name, sortAt(name, 0) === digit ? 3 : 1) ? name : null;
}

/** Prefixes that belong to a name: of a path, a hidden file, a home directory. */
const fronts: ReadonlySet<string> = new Set(["/", ".", "/.", "~/", "~/."]);

function skipStart(text: string, start: number, end: number): number {
  let from = start;
  while (from < end && sortAt(text, from) >= sign) from += 1;
  return from > start && from - start <= 3 && fronts.has(text.slice(start, from)) ? start : from;
}

function hasLetters(name: string, least: number): boolean {
  let letters = 0;
  for (let at = 0; at < name.length && letters < least; at += 1) {
    const sort = sortAt(name, at);
    if (sort === lower || sort === upper) letters += 1;
  }
  return letters >= least;
}

function firstCost(sort: CharacterClass): number {
  return sort >= underscore ? 0.7 : 1;
}

function furtherCost(sort: CharacterClass, run: number): number {
  if (sort === lower) return run > 6 ? 0.12 : 0;
  if (sort === upper) return run % 4 === 1 ? 1 : 0;
  if (sort === digit) return run % 3 === 1 ? 1.2 : 0;
  return 0.7;
}
