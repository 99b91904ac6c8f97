import type { BlockRow } from "../api/contract.ts";
import { useCommands } from "../base/commands.ts";
import type { Command } from "../base/keys.ts";
import { showToast } from "../components/toasts.tsx";
import type { BlockAction, DialogSpec } from "./block-actions.ts";
import { moved, type Selection } from "./selection.ts";

export type ContextCommandsInput = {
  readonly actions: readonly BlockAction[];
  readonly rows: readonly BlockRow[];
  readonly selection: Selection;
  readonly isPast: boolean;
  readonly isFiltered: boolean;
  readonly onSelect: (change: (before: Selection) => Selection) => void;
  readonly onOpen: (block: number) => void;
  readonly onOpenDialog: (dialog: DialogSpec) => void;
  readonly onManifest: () => void;
  readonly onDiff: () => void;
};

/** Registers the commands of the context screen. */
export function useContextCommands(input: ContextCommandsInput): void {
  useCommands([...actionCommands(input), ...moveCommands(input), ...viewCommands(input)]);
}

const group = "Blocks";

function actionCommands({
  actions,
  selection: { cursor, chosen },
  onOpen,
}: ContextCommandsInput): readonly Command[] {
  const hasBlocks = cursor !== null || chosen.size > 0;
  // The key of a locked action says why, like its button.
  const available = hasBlocks ? actions : [];
  const open = { id: "open", title: "Open the inspector", keys: ["Enter", "o"], group };
  return [
    ...available.map(({ id, title, key, lock, run }) => ({
      id,
      title,
      keys: key === "" ? [] : [key],
      group,
      run: lock === null ? run : () => showToast(lock),
    })),
    ...(cursor === null ? [] : [{ ...open, run: () => onOpen(cursor) }]),
  ];
}

/** The focused list handles these keys itself; from elsewhere they move the focus into the list. */
function moveCommands({ rows, onSelect, isFiltered }: ContextCommandsInput): readonly Command[] {
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

function viewCommands({
  onOpenDialog,
  onManifest,
  onDiff,
  isPast,
}: ContextCommandsInput): readonly Command[] {
  const create = { id: "create", title: "Create a memory", keys: ["m"], group };
  return [
    { id: "recall", title: "Recall", keys: ["r"], group, run: () => onOpenDialog({ type: "recall" }) },
    { id: "manifest", title: "Show the next manifest", keys: ["g m"], group: "Go", run: onManifest },
    { id: "diff", title: "Show the requests", keys: ["d"], group: "Go", run: onDiff },
    ...(isPast ? [] : [{ ...create, run: () => onOpenDialog({ type: "create", supersedes: [] }) }]),
  ];
}
