import type { BlockRow } from "../api/contract.ts";
import { runCommand, selectForModel, targetOf } from "./actions.ts";

/** An action on blocks. `lock` says why it is unavailable; null if it is available. */
export type BlockAction = {
  readonly id: string;
  readonly title: string;
  /** The tooltip: one sentence about the effect. */
  readonly description: string;
  readonly key: string;
  readonly lock: string | null;
  readonly run: () => void;
};

/** The dialog an action opens before it changes anything. */
export type DialogSpec =
  | {
      readonly type: "compress" | "archive" | "restore" | "withhold" | "release" | "purge";
      readonly blocks: readonly number[];
    }
  | { readonly type: "update"; readonly block: number }
  | { readonly type: "create"; readonly supersedes: readonly number[] }
  | { readonly type: "recall" };

export type BlockActionsInput = {
  readonly session: string;
  readonly chosen: readonly BlockRow[];
  /** True while an earlier seq is shown, where nothing can be changed. */
  readonly isPast: boolean;
  readonly openDialog: (dialog: DialogSpec) => void;
  readonly openInspector: (block: number) => void;
};

/** The actions on the chosen blocks, in the order of the buttons. */
export function blockActions(input: BlockActionsInput): readonly BlockAction[] {
  const lockInPast = (action: BlockAction): BlockAction =>
    input.isPast ? { ...action, lock: "The past is read-only" } : action;
  return [
    ...protectActions(input).map(lockInPast),
    ...levelActions(input).map(lockInPast),
    ...readActions(input),
    ...contentActions(input).map(lockInPast),
  ];
}

/** Actions that change nothing already sent. */
function protectActions({ session, chosen }: BlockActionsInput): readonly BlockAction[] {
  const blocks = chosen.map(({ n }) => n);
  const target = targetOf(blocks);
  return [
    {
      id: "select",
      title: "Select",
      description: "Point the model at these blocks with the next prompt",
      key: "s",
      lock: null,
      run: () => void selectForModel(session, blocks),
    },
    {
      id: "pin",
      title: "Pin",
      description: "Protect these blocks from being lowered",
      key: "p",
      lock: lockUnless(chosen, ({ pinned }) => !pinned, "Already pinned"),
      run: () => void runCommand(session, { verb: "pin", target, position: "top" }),
    },
    {
      id: "pin-end",
      title: "Pin to the end",
      description: "Protect these blocks and keep them at the end of the context",
      key: "Shift+P",
      lock: null,
      run: () => void runCommand(session, { verb: "pin", target, position: "bottom" }),
    },
    {
      id: "unpin",
      title: "Unpin",
      description: "Remove the protection of pinned blocks",
      key: "u",
      lock: lockUnless(chosen, ({ pinned }) => pinned, "Not pinned"),
      run: () => void runCommand(session, { verb: "unpin", target }),
    },
  ];
}

/** Actions that change how much of a block is sent. Each opens a dialog with the price. */
function levelActions({ chosen, openDialog }: BlockActionsInput): readonly BlockAction[] {
  const blocks = chosen.map(({ n }) => n);
  const isLowered = ({ state, wanted }: BlockRow): boolean => state === "archived" || wanted !== "original";
  return [
    {
      id: "compress",
      title: "Compress",
      description: "Send a shorter text of these blocks",
      key: "c",
      lock: lockFixed(chosen) ?? lockUnless(chosen, ({ counted }) => counted, "Not in the window"),
      run: () => openDialog({ type: "compress", blocks }),
    },
    {
      id: "archive",
      title: "Archive",
      description: "Remove these blocks from the window and keep them stored",
      key: "a",
      lock: lockFixed(chosen) ?? lockUnless(chosen, ({ state }) => state !== "archived", "Already archived"),
      run: () => openDialog({ type: "archive", blocks }),
    },
    {
      id: "restore",
      title: "Restore",
      description: "Send archived or compressed blocks again",
      key: "b",
      lock: lockUnless(chosen, isLowered, "Neither archived nor compressed"),
      run: () => openDialog({ type: "restore", blocks }),
    },
  ];
}

/** Actions on the stored content of blocks. */
function contentActions({ chosen, openDialog }: BlockActionsInput): readonly BlockAction[] {
  const blocks = chosen.map(({ n }) => n);
  const [single] = blocks;
  const isWithheld = chosen.length > 0 && chosen.every(({ withheld }) => withheld);
  return [
    {
      id: "withhold",
      title: isWithheld ? "Release" : "Withhold",
      description: isWithheld ? "Send these blocks again" : "Never send these blocks again",
      key: "w",
      lock: null,
      run: () => openDialog({ type: isWithheld ? "release" : "withhold", blocks }),
    },
    {
      id: "update",
      title: "Update",
      description: "Replace this block with a memory",
      key: "",
      lock: blocks.length === 1 ? null : "Choose one block only",
      run: () => {
        if (single !== undefined) openDialog({ type: "update", block: single });
      },
    },
    {
      id: "purge",
      title: "Purge",
      description: "Erase the stored content of these blocks permanently",
      key: "",
      lock: null,
      run: () => openDialog({ type: "purge", blocks }),
    },
  ];
}

/** Actions that only read, also available in the past. */
function readActions({ chosen, openInspector }: BlockActionsInput): readonly BlockAction[] {
  const [single] = chosen;
  return [
    {
      id: "expand",
      title: "Expand",
      description: "Show the stored content of this block",
      key: "e",
      lock: chosen.length === 1 ? null : "Choose one block only",
      run: () => {
        if (single !== undefined) openInspector(single.n);
      },
    },
  ];
}

/** The client sends its system text with every request, and a pin protects a block. */
function lockFixed(rows: readonly BlockRow[]): string | null {
  return (
    lockUnless(rows, ({ kind }) => kind !== "system", "The client sends it with every request") ??
    lockUnless(rows, ({ kind, pinned }) => kind === "system" || !pinned, "Pinned: unpin it first")
  );
}

/** Null if the action is possible for at least one row. */
function lockUnless(
  rows: readonly BlockRow[],
  isPossible: (row: BlockRow) => boolean,
  lock: string,
): string | null {
  return rows.some(isPossible) ? null : lock;
}
