import type { BlockRow, StateRow } from "../../session/index.ts";
import { formWords } from "./blocks.ts";
import { countedText } from "./numbers.ts";
import { printable } from "./printable.ts";
import type { Cell } from "./table.ts";

/** One field of a block that is not what it was. */
export type Change = { readonly field: string; readonly from: string; readonly to: string };
export type Difference = {
  readonly from: number;
  readonly to: number;
  /** Of the window. */
  readonly usedTokens: { readonly from: number; readonly to: number };
  readonly added: readonly BlockRow[];
  readonly gone: readonly BlockRow[];
  readonly changed: readonly { readonly block: number; readonly changes: readonly Change[] }[];
};

type States = { readonly before: StateRow; readonly after: StateRow };

/** How one state became another: what no field says of a block is not a difference. */
export function differenceOf({ before, after }: States): Difference {
  const then = new Map(before.blocks.map((row) => [row.n, row]));
  const now = new Map(after.blocks.map((row) => [row.n, row]));
  const changed = after.blocks.flatMap((row) => {
    const was = then.get(row.n);
    const changes = was === undefined ? [] : changesOf(was, row);
    return changes.length === 0 ? [] : [{ block: row.n, changes }];
  });
  return {
    from: before.seq,
    to: after.seq,
    usedTokens: { from: before.window.used, to: after.window.used },
    added: after.blocks.filter(({ n }) => !then.has(n)),
    gone: before.blocks.filter(({ n }) => !now.has(n)),
    changed,
  };
}

/** Where a block is used and how old it is changes with every turn; that is not told. */
const fields: readonly (readonly [string, (row: BlockRow) => string])[] = [
  ["shown", ({ shown }) => formWords[shown]],
  ["wanted", ({ wanted }) => formWords[wanted]],
  ["zone", ({ zone }) => zone],
  ["pinned", ({ pinned }) => yesNo(pinned)],
  ["focused", ({ focused }) => yesNo(focused)],
  ["selected", ({ selected }) => yesNo(selected)],
  ["withheld", ({ withheld }) => yesNo(withheld)],
];

function changesOf(was: BlockRow, is: BlockRow): readonly Change[] {
  return fields.flatMap(([field, of]) => {
    const [from, to] = [of(was), of(is)];
    return from === to ? [] : [{ field, from, to }];
  });
}

function yesNo(isSet: boolean): string {
  return isSet ? "yes" : "no";
}

export function differenceRows({ added, gone, changed }: Difference): readonly (readonly Cell[])[] {
  return [
    ...added.map((row) => blockCells("+", row)),
    ...changed.map(({ block, changes }): readonly Cell[] => [
      { text: "~", style: "yellow" },
      { text: `#${block}`, align: "right", style: "bold" },
      { text: changes.map(({ field, from, to }) => `${field} ${from} -> ${to}`).join(", ") },
    ]),
    ...gone.map((row) => blockCells("-", row)),
  ];
}

function blockCells(sign: "+" | "-", row: BlockRow): readonly Cell[] {
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  return [
    { text: sign, style: sign === "+" ? "green" : "red" },
    { text: `#${row.n}`, align: "right", style: "bold" },
    { text: `${row.kind}${size}${row.topic === null ? "" : `: ${printable(row.topic, 60)}`}` },
  ];
}
