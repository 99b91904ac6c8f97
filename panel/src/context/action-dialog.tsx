import { useState } from "react";
import type { BlockRow } from "../api/contract.ts";
import { blockList, pluralText } from "../base/format.ts";
import { commandOn } from "./actions.ts";
import type { DialogSpec } from "./block-actions.ts";
import { ChangeDialog } from "./change-dialog.tsx";
import { CompressDialog } from "./compress-dialog.tsx";
import { CreateMemoryDialog, UpdateMemoryDialog } from "./memory-dialogs.tsx";
import { RecallDialog } from "./recall-dialog.tsx";

export type ActionDialogProps = {
  readonly session: string;
  readonly dialog: DialogSpec;
  readonly rows: readonly BlockRow[];
  readonly onClose: () => void;
};

/** The dialog of an action: it shows the effect and the price before anything changes. */
export function ActionDialog({ session, dialog, rows, onClose }: ActionDialogProps) {
  const common = { session, onClose };
  switch (dialog.type) {
    case "compress":
      return <CompressDialog {...common} blocks={dialog.blocks} rows={rows} />;
    case "archive":
      return <ArchiveDialog {...common} blocks={dialog.blocks} />;
    case "restore":
      return <RestoreBlocksDialog {...common} blocks={dialog.blocks} rows={rows} />;
    case "withhold":
      return (
        <ChangeDialog {...common} title="Withhold" command={commandOn("withhold", dialog.blocks)}>
          <p className="dim">
            {blockList(dialog.blocks)} will not be sent in any request until you release it. The model reads a
            placeholder instead.
          </p>
        </ChangeDialog>
      );
    case "release":
      return <ChangeDialog {...common} title="Release" command={commandOn("release", dialog.blocks)} />;
    case "purge":
      return <PurgeDialog {...common} blocks={dialog.blocks} />;
    case "update":
      return <UpdateMemoryDialog {...common} block={dialog.block} />;
    case "create":
      return <CreateMemoryDialog {...common} supersedes={dialog.supersedes} />;
    case "recall":
      return <RecallDialog {...common} />;
  }
}

type BlocksProps = {
  readonly session: string;
  readonly blocks: readonly number[];
  readonly onClose: () => void;
};

function ArchiveDialog({ session, blocks, onClose }: BlocksProps) {
  const [reason, setReason] = useState("");
  return (
    <ChangeDialog
      session={session}
      title={`Archive ${pluralText(blocks.length, "block")}`}
      command={{ ...commandOn("archive", blocks), ...(reason === "" ? {} : { reason }) }}
      onClose={onClose}
    >
      <p className="dim">
        Archived blocks leave the window and stay stored. The model can recall them, and you can restore them.
      </p>
      <label className="field">
        Reason (the model reads it)
        <input
          className="input"
          value={reason}
          maxLength={200}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </ChangeDialog>
  );
}

/** Like `aperture restore`, with `--whole` as a checkbox. Compressed blocks can only be restored whole. */
function RestoreBlocksDialog({
  session,
  blocks,
  rows,
  onClose,
}: BlocksProps & { readonly rows: readonly BlockRow[] }) {
  const hasArchived = rows.some(({ n, state }) => blocks.includes(n) && state === "archived");
  const [isWholeChecked, setWholeChecked] = useState(false);
  const isWhole = isWholeChecked || !hasArchived;
  return (
    <ChangeDialog
      session={session}
      title={`Restore ${pluralText(blocks.length, "block")}`}
      command={isWhole ? { ...commandOn("expand", blocks), inPlace: true } : commandOn("restore", blocks)}
      onClose={onClose}
    >
      <label className="check">
        <input
          type="checkbox"
          checked={isWhole}
          disabled={!hasArchived}
          onChange={(event) => setWholeChecked(event.target.checked)}
        />
        Send the whole block, at its old position
      </label>
      <p className="dim">
        {isWhole
          ? "The model can also expand a block at the end of its context, which rewrites nothing."
          : "Archived blocks are sent again at the level they had."}
      </p>
    </ChangeDialog>
  );
}

const purgeWord = "purge";

function PurgeDialog({ session, blocks, onClose }: BlocksProps) {
  const [typed, setTyped] = useState("");
  return (
    <ChangeDialog
      session={session}
      title={`Purge ${pluralText(blocks.length, "block")}`}
      command={commandOn("purge", blocks)}
      onClose={onClose}
      isPermanent
      blockedBy={typed === purgeWord ? null : `Type ${purgeWord} to confirm`}
    >
      <p className="problem">
        This erases the stored content of {blockList(blocks)} permanently, with every stored body that
        contains it. It cannot be undone.
      </p>
      <label className="field">
        Type “{purgeWord}” to confirm
        <input className="input" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
    </ChangeDialog>
  );
}
