import { useState } from "react";
import type { BlockRow } from "../api/contract.ts";
import { blockList, manyText } from "../base/words.ts";
import { wantedFor } from "./acts.ts";
import { Compress } from "./compress.tsx";
import type { Asking } from "./doings.ts";
import { Planned } from "./planned.tsx";
import { CreateForm, RecallForm, UpdateForm } from "./text-forms.tsx";

export type AskDialogProps = {
  readonly session: string;
  readonly asking: Asking;
  readonly rows: readonly BlockRow[];
  readonly onClose: () => void;
};

/** Asked before anything is done: what it would come to, and what it costs. */
export function AskDialog({ session, asking, rows, onClose }: AskDialogProps) {
  const place = { session, onClose };
  switch (asking.type) {
    case "compress":
      return <Compress {...place} blocks={asking.blocks} rows={rows} />;
    case "archive":
      return <Archive {...place} blocks={asking.blocks} />;
    case "restore":
      return <Planned {...place} title="Restore" wanted={wantedFor("restore", asking.blocks)} />;
    case "withhold":
      return (
        <Planned {...place} title="Withhold" wanted={wantedFor("withhold", asking.blocks)}>
          <p className="dim">
            {blockList(asking.blocks)} is sent no more, in no request, until you release it. A placeholder
            says so in its place.
          </p>
        </Planned>
      );
    case "release":
      return <Planned {...place} title="Release" wanted={wantedFor("release", asking.blocks)} />;
    case "expand":
      return (
        <Planned
          {...place}
          title="Show whole again"
          wanted={{ ...wantedFor("expand", asking.blocks), inPlace: true }}
        >
          <p className="dim">
            The model can read what is stored without this: it expands a block at the end of its context,
            which costs no rewrite. This shows {blockList(asking.blocks)} again where they stood.
          </p>
        </Planned>
      );
    case "purge":
      return <Purge {...place} blocks={asking.blocks} />;
    case "update":
      return <UpdateForm {...place} block={asking.block} />;
    case "create":
      return <CreateForm {...place} supersedes={asking.supersedes} />;
    case "recall":
      return <RecallForm {...place} />;
  }
}

type BlocksProps = {
  readonly session: string;
  readonly blocks: readonly number[];
  readonly onClose: () => void;
};

function Archive({ session, blocks, onClose }: BlocksProps) {
  const [reason, setReason] = useState("");
  return (
    <Planned
      session={session}
      title={`Archive ${manyText(blocks.length, "block")}`}
      wanted={{ ...wantedFor("archive", blocks), ...(reason === "" ? {} : { reason }) }}
      onClose={onClose}
    >
      <p className="dim">
        They leave the window and stay in the cold store: the model can recall them, and undo brings them
        back.
      </p>
      <label className="field">
        Reason, which the model reads
        <input
          className="input"
          value={reason}
          maxLength={200}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </Planned>
  );
}

const purgeWord = "purge";

function Purge({ session, blocks, onClose }: BlocksProps) {
  const [typed, setTyped] = useState("");
  return (
    <Planned
      session={session}
      title={`Purge ${manyText(blocks.length, "block")}`}
      wanted={wantedFor("purge", blocks)}
      onClose={onClose}
      isLasting
      obstacle={typed === purgeWord ? null : `Type ${purgeWord} to confirm`}
    >
      <p className="problem">
        Erases what is stored of {blockList(blocks)} for good, with every stored body that held it. Nothing
        brings it back.
      </p>
      <label className="field">
        Type “{purgeWord}” to confirm
        <input className="input" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
    </Planned>
  );
}
