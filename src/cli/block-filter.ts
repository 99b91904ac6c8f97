import type { BlockRow } from "../queries/answers/index.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./format/printable.ts";
import { type CliResult, stop, succeed } from "./outcome.ts";

export type BlockWithLabel = { readonly row: BlockRow; readonly label: string };
export type BlockFilter = (block: BlockWithLabel) => boolean;

/** The fields that a filter `field:value` may name. The value matches as a prefix. */
const textFields: Readonly<Record<string, (row: BlockRow) => string>> = {
  zone: ({ zone }) => zone,
  kind: ({ kind }) => kind,
  level: ({ level }) => level,
  shown: ({ shown }) => shown,
  state: ({ state }) => state,
  origin: ({ origin }) => origin,
};
const flagFields: Readonly<Record<string, (row: BlockRow) => boolean>> = {
  pinned: ({ pinned }) => pinned,
  focused: ({ focused }) => focused,
  selected: ({ selected }) => selected,
  withheld: ({ withheld }) => withheld,
  pending: ({ pending }) => pending,
};
const numberFields: Readonly<Record<string, (row: BlockRow) => number>> = {
  tokens: ({ tokens }) => tokens ?? 0,
  turn: ({ turn }) => turn,
  message: ({ message }) => message,
};
const filterNames = [...Object.keys(textFields), ...Object.keys(flagFields), ...Object.keys(numberFields)];

/** A filter is `zone:cold`, `pinned:yes`, `tokens:>2k`, or text that the block's label or topic contains. */
export function readFilters(words: readonly string[]): CliResult<readonly BlockFilter[]> {
  const filters: BlockFilter[] = [];
  for (const word of words) {
    const filter = parseFilter(word);
    if (typeof filter === "string") return stop(exitCodes.usage, filter);
    filters.push(filter);
  }
  return succeed(filters);
}

export function matchesAll(block: BlockWithLabel, filters: readonly BlockFilter[]): boolean {
  return filters.every((matches) => matches(block));
}

function parseFilter(word: string): BlockFilter | string {
  const [, name = "", value = ""] = /^([a-z]+):(.*)$/s.exec(word) ?? [];
  if (name === "") return ({ row, label }) => contains([label, row.topic ?? ""], word);
  const text = textFields[name];
  if (text !== undefined) return ({ row }) => text(row).startsWith(value.toLowerCase());
  const isSet = flagFields[name];
  if (isSet !== undefined) {
    if (!["yes", "no"].includes(value)) return `${name} takes yes or no: ${name}:yes`;
    return ({ row }) => isSet(row) === (value === "yes");
  }
  const number = numberFields[name];
  if (number !== undefined) return comparison(name, value, number);
  return `Unknown filter "${printable(name, 40)}". Known filters: ${filterNames.join(", ")}.`;
}

function contains(texts: readonly string[], word: string): boolean {
  return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()));
}

function comparison(name: string, value: string, fieldOf: (row: BlockRow) => number): BlockFilter | string {
  const [, sign = "=", digits, unit] = /^(>=|<=|>|<)?(\d{1,9}(?:\.\d+)?)(k?)$/.exec(value) ?? [];
  if (digits === undefined) return `${name} takes a number: '${name}:>2k'`;
  const bound = Number(digits) * (unit === "k" ? 1_000 : 1);
  switch (sign) {
    case ">":
      return ({ row }) => fieldOf(row) > bound;
    case "<":
      return ({ row }) => fieldOf(row) < bound;
    case ">=":
      return ({ row }) => fieldOf(row) >= bound;
    case "<=":
      return ({ row }) => fieldOf(row) <= bound;
    default:
      return ({ row }) => fieldOf(row) === bound;
  }
}
