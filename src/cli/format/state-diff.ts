import type { BlockRow, StateRow } from "../../queries/answers/index.ts";
import { formNames } from "./block-list.ts";
import { countedText } from "./number-text.ts";
import { printable } from "./printable.ts";
import type { TableCell } from "./table.ts";

/** A field of a block that changed. */
export type BlockFieldChange = { readonly field: string; readonly from: string; readonly to: string };
export type StateDifference = {
  readonly from: number;
  readonly to: number;
  /** The tokens used in the window. */
  readonly usedTokens: { readonly from: number; readonly to: number };
  readonly added: readonly BlockRow[];
  readonly gone: readonly BlockRow[];
  readonly changed: readonly { readonly block: number; readonly changes: readonly BlockFieldChange[] }[];
};

type StatePair = { readonly before: StateRow; readonly after: StateRow };

/** The blocks that two states do not share, and the fields that changed. */
export function differenceOf({ before, after }: StatePair): StateDifference {
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

/** Last use and age are left out: they change with every turn. */
const fields: readonly (readonly [string, (row: BlockRow) => string])[] = [
  ["shown", ({ shown }) => formNames[shown]],
  ["wanted", ({ wanted }) => formNames[wanted]],
  ["zone", ({ zone }) => zone],
  ["pinned", ({ pinned }) => yesNo(pinned)],
  ["focused", ({ focused }) => yesNo(focused)],
  ["selected", ({ selected }) => yesNo(selected)],
  ["withheld", ({ withheld }) => yesNo(withheld)],
];

function changesOf(was: BlockRow, is: BlockRow): readonly BlockFieldChange[] {
  return fields.flatMap(([field, of]) => {
    const [from, to] = [of(was), of(is)];
    return from === to ? [] : [{ field, from, to }];
  });
}

function yesNo(isSet: boolean): string {
  return isSet ? "yes" : "no";
}

export function differenceRows({ added, gone, changed }: StateDifference): readonly (readonly TableCell[])[] {
  return [
    ...added.map((row) => blockCells("+", row)),
    ...changed.map(({ block, changes }): readonly TableCell[] => [
      { text: "~", style: "yellow" },
      { text: `#${block}`, align: "right", style: "bold" },
      { text: changes.map(({ field, from, to }) => `${field} ${from} -> ${to}`).join(", ") },
    ]),
    ...gone.map((row) => blockCells("-", row)),
  ];
}

function blockCells(sign: "+" | "-", row: BlockRow): readonly TableCell[] {
  const size = row.tokens === null ? "" : `, ${countedText(row.tokens, row.exact)} tokens`;
  return [
    { text: sign, style: sign === "+" ? "green" : "red" },
    { text: `#${row.n}`, align: "right", style: "bold" },
    { text: `${row.kind}${size}${row.topic === null ? "" : `: ${printable(row.topic, 60)}`}` },
  ];
}
