import type { PricedSession, StepRow } from "../api/contract.ts";
import { useConnection } from "../api/events.ts";
import { pluralText, spendText } from "../base/format.ts";
import { go } from "../base/navigation.ts";
import { stepText } from "../context/steps.ts";

export type StatusBarProps = {
  readonly session: string;
  readonly row: PricedSession | null;
  /** The last step that is not undone; null if there is none. */
  readonly last: StepRow | null;
  readonly waiting: number;
  readonly isPast: boolean;
  readonly onUndo: () => void;
  readonly onActivity: () => void;
};

/** The last step, the waiting approvals and the spend. */
export function StatusBar(props: StatusBarProps) {
  const { session, row, last, waiting, isPast, onUndo, onActivity } = props;
  const { status } = useConnection();
  return (
    <footer className="status-bar">
      <i className={`state-dot ${status === "live" ? "active" : ""}`} aria-hidden="true" />
      <span className="status-last">
        <span className="status-text">
          {last === null ? emptyText(row) : stepText(last, row?.model ?? null)}
        </span>
        {last === null || isPast ? null : (
          <button
            type="button"
            className="button small"
            onClick={({ detail }) => {
              // A double click must not undo two steps.
              if (detail <= 1) onUndo();
            }}
          >
            Undo <kbd>z</kbd>
          </button>
        )}
        <button type="button" className="button quiet small" onClick={onActivity}>
          Activity <kbd>g t</kbd>
        </button>
      </span>
      {waiting === 0 ? null : (
        <button
          type="button"
          className="button small waiting"
          onClick={() => go({ screen: "approvals", session })}
        >
          Review {waiting} waiting <kbd>g a</kbd>
        </button>
      )}
      {row === null ? null : (
        <span className="status-spend" title="Estimated cost of all requests of this session">
          {spendText(row.spend)}
        </span>
      )}
    </footer>
  );
}

function emptyText(row: PricedSession | null): string {
  if (row === null || row.requests === 0) return "No changes yet";
  if (row.rendered === 0) return `No changes yet: ${pluralText(row.requests, "request")} passed unchanged`;
  return `No block changed yet; Aperture added its notes to ${row.rendered} of ${pluralText(row.requests, "request")}`;
}
