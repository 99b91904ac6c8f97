import type { BlockRow } from "../api/contract.ts";

/** A filter reads the row, the current turn and the text of the topic column. */
export type FilterContext = { readonly turn: number; readonly label: string };

/** One condition of a filter, such as `zone:cold` or `tokens:>2k` or a word. */
type Condition = (row: BlockRow, context: FilterContext) => boolean;

export type Filter = {
  readonly conditions: readonly Condition[];
  /** Conditions the filter does not know; the user is told. */
  readonly problems: readonly string[];
  /** True if the filter compares labels, so that the labels of all blocks must be read first. */
  readonly needsLabels: boolean;
};

const flags: Readonly<Record<string, (row: BlockRow) => boolean>> = {
  pinned: ({ pinned }) => pinned,
  focused: ({ focused }) => focused,
  selected: ({ selected }) => selected,
  withheld: ({ withheld }) => withheld,
  pending: ({ pending }) => pending,
};

/** Parses `zone:cold kind:tool tokens:>2k age:>5 "db schema"`. A row must match every condition. */
export function filterOf(text: string): Filter {
  const conditions: Condition[] = [];
  const problems: string[] = [];
  let needsLabels = false;
  for (const [, name, quoted, plain] of text.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = (quoted ?? plain ?? "").toLowerCase();
    const condition = conditionOf(name?.toLowerCase(), value);
    if (condition === null) problems.push(`${name}:${value}`);
    else conditions.push(condition);
    needsLabels ||= condition !== null && value !== "any" && (name === undefined || name === "topic");
  }
  return { conditions, problems, needsLabels };
}

export function passes({ conditions }: Filter, row: BlockRow, context: FilterContext): boolean {
  return conditions.every((condition) => condition(row, context));
}

function conditionOf(name: string | undefined, value: string): Condition | null {
  if (value === "any") return () => true;
  switch (name) {
    case undefined:
      return (row, { label }) => searchableText(row, label).includes(value);
    case "zone":
      return (row) => row.zone.startsWith(value);
    case "kind":
    case "role":
      return (row) => row.kind.includes(value) || row.origin.startsWith(value);
    case "level":
      return (row) => row.shown.startsWith(value) || row.level.startsWith(value);
    case "state":
      return (row) => row.state.startsWith(value);
    case "topic":
      return (_, { label }) => label.toLowerCase().includes(value);
    case "tokens":
      return comparing(value, ({ tokens }) => tokens ?? 0);
    case "age":
      return comparing(value, (row, { turn }) => turn - row.turn);
    default:
      return flagged(name, value);
  }
}

function flagged(name: string, value: string): Condition | null {
  const flag = flags[name];
  if (flag === undefined || !["yes", "no"].includes(value)) return null;
  return (row) => flag(row) === (value === "yes");
}

/** The text of the row that plain words are searched in. */
function searchableText(row: BlockRow, label: string): string {
  return `#${row.n} ${label} ${row.kind} ${row.zone}`.toLowerCase();
}

function comparing(value: string, of: (row: BlockRow, context: FilterContext) => number): Condition | null {
  const [, sign, digits, unit] = /^([<>]?)(\d+(?:\.\d+)?)(k?)t?$/.exec(value) ?? [];
  if (digits === undefined) return null;
  const bound = Number(digits) * (unit === "k" ? 1_000 : 1);
  if (sign === "<") return (row, context) => of(row, context) < bound;
  return (row, context) => (sign === ">" ? of(row, context) > bound : of(row, context) === bound);
}
