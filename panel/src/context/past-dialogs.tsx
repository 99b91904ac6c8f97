import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { manyText } from "../base/words.ts";
import { CopyLine } from "../parts/copy-line.tsx";
import { CloseButton, Dialog } from "../parts/dialog.tsx";
import { restore } from "./acts.ts";
import { stepsPath, stepText } from "./steps.ts";

export type PastDialogProps = {
  readonly session: string;
  readonly at: number;
  readonly model: string | null;
  readonly onClose: () => void;
};

/** What going back to a seq would change, before anything is done. */
export function RestoreDialog({ session, at, model, onClose }: PastDialogProps) {
  const { data } = useResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const changes = (data?.rows ?? []).filter((row) => standsOtherwise(row, at)).reverse();
  const title = `Restore what held at seq ${at}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>
        {data === null ? "Reading what was done since…" : changesText(changes.length)} What was said since
        stays in the context; files on disk are not touched. This can be taken back too.
      </p>
      <ol className="restore-list">
        {changes.map((row) => (
          <li key={row.step}>
            {row.done ? "Take back" : "Do again"}: {stepText(row, model)}
          </li>
        ))}
      </ol>
      <div className="buttons">
        {/* biome-ignore lint/a11y/noAutofocus: Enter changes nothing. */}
        <button type="button" className="button primary" autoFocus onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button"
          disabled={changes.length === 0}
          onClick={() => {
            void restore(session, at);
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
  if (count === 0) return "Nothing was done to blocks since then, so there is nothing to restore.";
  return `${manyText(count, "step")} would be reversed, the last one first.`;
}

/** Done since, or taken back since. */
function standsOtherwise({ done, seq, lastSeq }: StepRow, at: number): boolean {
  return done ? seq > at : seq <= at && lastSeq > at;
}

const clients = [
  { name: "Claude Code", to: "claude" },
  { name: "Codex", to: "codex" },
  { name: "pi", to: "pi" },
] as const;

/** How a client goes on from there. The session that is looked at goes on as it is. */
export function ForkDialog({ session, at, onClose }: PastDialogProps) {
  const title = `Fork from seq ${at}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>
        Writes what the model had before it then as a transcript that a client goes on with, in the folder
        where you run it. This session stays as it is.
      </p>
      {clients.map(({ name, to }) => (
        <CopyLine key={to} name={name} line={`aperture fork ${session} --at ${at} --to ${to}`} />
      ))}
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}
