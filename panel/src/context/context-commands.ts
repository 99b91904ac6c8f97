import type { BlockRow } from "../api/contract.ts";
import { useCommands } from "../base/commands.ts";
import type { Command } from "../base/keys.ts";
import { say } from "../parts/toasts.tsx";
import type { Asking, Doing } from "./doings.ts";
import { moved, type Selection } from "./selection.ts";

export type CommandPlace = {
  readonly doings: readonly Doing[];
  readonly rows: readonly BlockRow[];
  readonly selection: Selection;
  readonly isPast: boolean;
  readonly isFiltered: boolean;
  readonly onSelect: (change: (before: Selection) => Selection) => void;
  readonly onOpen: (block: number) => void;
  readonly onAsk: (asking: Asking) => void;
  readonly onManifest: () => void;
  readonly onDiff: () => void;
};

/** Everything that can be done on the context by key and by the palette. */
export function useContextCommands(place: CommandPlace): void {
  useCommands([...onBlocks(place), ...moving(place), ...looking(place)]);
}

const group = "Blocks";

function onBlocks({ doings, selection: { cursor, chosen }, onOpen }: CommandPlace): readonly Command[] {
  const hasBlocks = cursor !== null || chosen.size > 0;
  // A key whose deed is locked says why, as its button does.
  const offered = hasBlocks ? doings : [];
  const open = { id: "open", title: "Open the inspector", keys: ["Enter", "o"], group };
  return [
    ...offered.map(({ id, title, key, lock, run }) => ({
      id,
      title,
      keys: key === "" ? [] : [key],
      group,
      run: lock === null ? run : () => say(lock),
    })),
    ...(cursor === null ? [] : [{ ...open, run: () => onOpen(cursor) }]),
  ];
}

/** The list hears these itself while it has the focus; from anywhere else they lead into it. */
function moving({ rows, onSelect, isFiltered }: CommandPlace): readonly Command[] {
  const order = rows.map(({ n }) => n);
  const move = (by: number) => () => {
    onSelect((before) => moved(before, order, { by, extends: false }));
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.row[tabindex="0"]')?.focus());
  };
  const matches = [
    { id: "next-match", title: "Next match of the filter", keys: ["n"], group, run: move(1) },
    { id: "previous-match", title: "Previous match of the filter", keys: ["Shift+N"], group, run: move(-1) },
  ];
  return [
    { id: "next-block", title: "Next block", keys: ["j", "ArrowDown"], group, run: move(1) },
    { id: "previous-block", title: "Previous block", keys: ["k", "ArrowUp"], group, run: move(-1) },
    ...(isFiltered ? matches : []),
  ];
}

function looking({ onAsk, onManifest, onDiff, isPast }: CommandPlace): readonly Command[] {
  const create = { id: "create", title: "Create a memory", keys: ["m"], group };
  return [
    { id: "recall", title: "Recall", keys: ["r"], group, run: () => onAsk({ type: "recall" }) },
    { id: "manifest", title: "What the model reads next", keys: ["g m"], group: "Go", run: onManifest },
    { id: "diff", title: "What the last request changed", keys: ["d"], group: "Go", run: onDiff },
    ...(isPast ? [] : [{ ...create, run: () => onAsk({ type: "create", supersedes: [] }) }]),
  ];
}
