import { useState } from "react";
import type { RouteAnswers, StateRow, StepRow } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { copyText } from "../base/clipboard.ts";
import { pluralText } from "../base/format.ts";
import { CopyLine } from "../components/copy-line.tsx";
import { CloseButton, Dialog } from "../components/dialog.tsx";
import { showError, showToast } from "../components/toasts.tsx";
import { restoreTo } from "./actions.ts";
import { stepsPath, stepText } from "./steps.ts";

export type PastBannerProps = { readonly state: StateRow; readonly onLive: () => void };

/** Says that an earlier seq is shown, and offers to restore it or to fork from it. */
export function PastBanner({ state, onLive }: PastBannerProps) {
  const { session, seq: at, head, model } = state;
  const [open, setOpen] = useState<"restore" | "fork" | null>(null);
  const dialog = { session, at, model, onClose: () => setOpen(null) };
  const copy = (): void => {
    void copyText(location.href).then((isCopied) =>
      isCopied
        ? showToast("Link copied")
        : showError(`The browser refused to copy the link: ${location.href}`),
    );
  };
  return (
    <>
      <div className="past-banner" role="status">
        <span>
          Viewing seq {at} of {head}, read-only
        </span>
        <button type="button" className="button small" onClick={copy}>
          Copy link
        </button>
        <button type="button" className="button small" onClick={() => setOpen("restore")}>
          Restore…
        </button>
        <button type="button" className="button small" onClick={() => setOpen("fork")}>
          Fork from here…
        </button>
        <button type="button" className="button small" onClick={onLive}>
          Back to live <kbd>.</kbd>
        </button>
      </div>
      {open === "restore" ? <RestoreSeqDialog {...dialog} /> : null}
      {open === "fork" ? <ForkDialog {...dialog} /> : null}
    </>
  );
}

type PastDialogProps = {
  readonly session: string;
  readonly at: number;
  readonly model: string | null;
  readonly onClose: () => void;
};

/** Lists the steps that restoring a seq would reverse. */
function RestoreSeqDialog({ session, at, model, onClose }: PastDialogProps) {
  const { data } = useResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const changes = (data?.rows ?? []).filter((row) => differsFrom(row, at)).reverse();
  const title = `Restore seq ${at}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>
        {data === null ? "Reading the steps since then…" : changesText(changes.length)} Messages since then
        stay in the context. Files on disk are not changed. You can undo this.
      </p>
      <ol className="restore-list">
        {changes.map((row) => (
          <li key={row.step}>
            {row.done ? "Undo" : "Redo"}: {stepText(row, model)}
          </li>
        ))}
      </ol>
      <div className="buttons">
        {/* biome-ignore lint/a11y/noAutofocus: Enter cancels. */}
        <button type="button" className="button primary" autoFocus onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button"
          disabled={changes.length === 0}
          onClick={() => {
            void restoreTo(session, at);
            onClose();
          }}
        >
          Restore
        </button>
      </div>
    </Dialog>
  );
}

function changesText(count: number): string {
  if (count === 0) return "No step has changed blocks since then, so there is nothing to restore.";
  return `${pluralText(count, "step")} will be reversed, newest first.`;
}

/** True if the step was done, or undone, after the seq. */
function differsFrom({ done, seq, lastSeq }: StepRow, at: number): boolean {
  return done ? seq > at : seq <= at && lastSeq > at;
}

const clients = [
  { name: "Claude Code", to: "claude" },
  { name: "Codex", to: "codex" },
  { name: "pi", to: "pi" },
] as const;

/** Shows the commands that continue from this seq in a client. */
function ForkDialog({ session, at, onClose }: PastDialogProps) {
  const title = `Fork from seq ${at}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>
        Each command writes the context as of this seq as a transcript of that client, in the folder where you
        run it. This session stays unchanged.
      </p>
      {clients.map(({ name, to }) => (
        <CopyLine key={to} name={name} line={`aperture fork ${session} --at ${at} --to ${to}`} />
      ))}
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}
