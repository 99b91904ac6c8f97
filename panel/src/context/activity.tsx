import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { contextRoute } from "../base/paths.ts";
import { go } from "../base/route.ts";
import { clockText } from "../base/words.ts";
import { CloseButton, Dialog } from "../parts/dialog.tsx";
import { redo, undo } from "./acts.ts";
import { stepsPath, stepText } from "./steps.ts";

export type ActivityProps = {
  readonly session: string;
  readonly model: string | null;
  readonly onClose: () => void;
};

/** Everything that was done, by whomever; each can be taken back or taken up again. */
export function Activity({ session, model, onClose }: ActivityProps) {
  const { data } = useResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const rows = [...(data?.rows ?? [])].reverse();
  return (
    <Dialog title="Activity" onClose={onClose} className="wide">
      <h2>Activity</h2>
      <p className="dim">
        What you, the model and Aperture did to blocks, the newest first. Taking back adds to the log; nothing
        is erased, and files on disk are not touched.
      </p>
      {data !== null && rows.length === 0 ? <p>Nothing was changed yet.</p> : null}
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
        title="Look at this moment"
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
        {done ? "" : " — taken back"}
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
