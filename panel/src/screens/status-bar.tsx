import type { PricedSession, StepRow } from "../api/contract.ts";
import { useConnection } from "../api/live.ts";
import { go } from "../base/route.ts";
import { manyText, spendText } from "../base/words.ts";
import { stepText } from "../context/steps.ts";

export type StatusBarProps = {
  readonly session: string;
  readonly row: PricedSession | null;
  /** The last step that is done; null: there is none. */
  readonly last: StepRow | null;
  readonly waiting: number;
  readonly isPast: boolean;
  readonly onUndo: () => void;
  readonly onActivity: () => void;
};

/** The last thing that was done, what waits, and what it has cost. */
export function StatusBar(props: StatusBarProps) {
  const { session, row, last, waiting, isPast, onUndo, onActivity } = props;
  const { is } = useConnection();
  return (
    <footer className="status-bar">
      <i className={`state-dot ${is === "live" ? "active" : ""}`} aria-hidden="true" />
      <span className="status-last">
        <span className="status-words">
          {last === null ? nothingYet(row) : stepText(last, row?.model ?? null)}
        </span>
        {last === null || isPast ? null : (
          <button
            type="button"
            className="button small"
            onClick={({ detail }) => {
              // The second click of two may meet another step in the same place.
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
          {waiting} waiting: review <kbd>g a</kbd>
        </button>
      )}
      {row === null ? null : (
        <span className="status-spend" title="What all requests of this session have cost, by the price list">
          {spendText(row.spend)}
        </span>
      )}
    </footer>
  );
}

function nothingYet(row: PricedSession | null): string {
  if (row === null || row.requests === 0) return "Nothing changed yet";
  if (row.rendered === 0)
    return `Nothing changed yet: ${manyText(row.requests, "request")} passed byte for byte`;
  return `No block was changed yet; ${row.rendered} of ${manyText(row.requests, "request")} carried lines of ours`;
}
