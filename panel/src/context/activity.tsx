import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { clockText } from "../base/format.ts";
import { go } from "../base/navigation.ts";
import { contextRoute } from "../base/routes.ts";
import { CloseButton, Dialog } from "../components/dialog.tsx";
import { redo, undo } from "./actions.ts";
import { stepsPath, stepText } from "./steps.ts";

export type ActivityProps = {
  readonly session: string;
  readonly model: string | null;
  readonly onClose: () => void;
};

/** Lists the steps of the session. Each can be undone and redone. */
export function Activity({ session, model, onClose }: ActivityProps) {
  const { data } = useResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const rows = [...(data?.rows ?? [])].reverse();
  return (
    <Dialog title="Activity" onClose={onClose} className="wide">
      <h2>Activity</h2>
      <p className="dim">
        Changes by you, the model and Aperture, newest first. Undo adds to the log and erases nothing. It does
        not change files on disk.
      </p>
      {data !== null && rows.length === 0 ? <p>No changes yet.</p> : null}
      <ol className="activity">
        {rows.map((row) => (
          <ActivityLine key={row.step} {...{ row, session, model, onClose }} />
        ))}
      </ol>
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

function ActivityLine({ row, session, model, onClose }: ActivityProps & { readonly row: StepRow }) {
  const { step, done, seq, time } = row;
  return (
    <li className={done ? "" : "undone"}>
      <button
        type="button"
        className="button quiet small"
        title="Show the context at this seq"
        onClick={() => {
          onClose();
          go({ ...contextRoute(session), at: seq });
        }}
      >
        seq {seq}
      </button>
      <span className="dim">{time === null ? "" : clockText(time)}</span>
      <span>
        {stepText(row, model)}
        {done ? "" : " (undone)"}
      </span>
      <button
        type="button"
        className="button small"
        onClick={() => void (done ? undo(session, step) : redo(session, step))}
      >
        {done ? "Undo" : "Redo"}
      </button>
    </li>
  );
}
