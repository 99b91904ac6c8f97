import type { BlockRow } from "../session/index.ts";
import { printable } from "./format/printable.ts";
import { type Outcome, stop, succeed } from "./outcome.ts";
import { exitCodes } from "./usage.ts";

/** A block with what it is about. */
export type Labelled = { readonly row: BlockRow; readonly label: string };
export type Filter = (block: Labelled) => boolean;

/** Which fields a word `field:value` may name; the value is compared by its beginning. */
const wordsOf: Readonly<Record<string, (row: BlockRow) => string>> = {
  zone: ({ zone }) => zone,
  kind: ({ kind }) => kind,
  level: ({ level }) => level,
  shown: ({ shown }) => shown,
  state: ({ state }) => state,
  origin: ({ origin }) => origin,
};
const switchesOf: Readonly<Record<string, (row: BlockRow) => boolean>> = {
  pinned: ({ pinned }) => pinned,
  focused: ({ focused }) => focused,
  selected: ({ selected }) => selected,
  withheld: ({ withheld }) => withheld,
  pending: ({ pending }) => pending,
};
const numbersOf: Readonly<Record<string, (row: BlockRow) => number>> = {
  tokens: ({ tokens }) => tokens ?? 0,
  turn: ({ turn }) => turn,
  message: ({ message }) => message,
};
export const filterNames = [...Object.keys(wordsOf), ...Object.keys(switchesOf), ...Object.keys(numbersOf)];

/** `zone:cold`, `pinned:yes`, `tokens:>2k`, or words that the block is about. */
export function readFilters(words: readonly string[]): Outcome<readonly Filter[]> {
  const filters: Filter[] = [];
  for (const word of words) {
    const filter = filterOf(word);
    if (typeof filter === "string") return stop(exitCodes.usage, filter);
    filters.push(filter);
  }
  return succeed(filters);
}

export function isWanted(block: Labelled, filters: readonly Filter[]): boolean {
  return filters.every((fits) => fits(block));
}

function filterOf(word: string): Filter | string {
  const [, name = "", value = ""] = /^([a-z]+):(.*)$/s.exec(word) ?? [];
  if (name === "") return ({ row, label }) => contains([label, row.topic ?? ""], word);
  const text = wordsOf[name];
  if (text !== undefined) return ({ row }) => text(row).startsWith(value.toLowerCase());
  const isSet = switchesOf[name];
  if (isSet !== undefined) {
    if (!["yes", "no"].includes(value)) return `${name} is yes or no: ${name}:yes`;
    return ({ row }) => isSet(row) === (value === "yes");
  }
  const number = numbersOf[name];
  if (number !== undefined) return comparison(name, value, number);
  return `"${printable(name, 40)}" is nothing blocks are chosen by; these are: ${filterNames.join(", ")}.`;
}

function contains(texts: readonly string[], word: string): boolean {
  return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()));
}

function comparison(name: string, value: string, of: (row: BlockRow) => number): Filter | string {
  const [, sign = "=", digits, unit] = /^(>=|<=|>|<)?(\d{1,9}(?:\.\d+)?)(k?)$/.exec(value) ?? [];
  if (digits === undefined) return `${name} is compared with a number: '${name}:>2k'`;
  const bound = Number(digits) * (unit === "k" ? 1_000 : 1);
  switch (sign) {
    case ">":
      return ({ row }) => of(row) > bound;
    case "<":
      return ({ row }) => of(row) < bound;
    case ">=":
      return ({ row }) => of(row) >= bound;
    case "<=":
      return ({ row }) => of(row) <= bound;
    default:
      return ({ row }) => of(row) === bound;
  }
}
