import type { BlockRow } from "../api/contract.ts";
import { countedText, pluralText } from "../base/format.ts";
import { LockIcon } from "../components/lock-icon.tsx";
import type { BlockAction } from "./block-actions.ts";

export type ActionBarProps = {
  readonly chosen: readonly BlockRow[];
  readonly hidden: number;
  readonly actions: readonly BlockAction[];
  readonly onClear: () => void;
};

/** The actions on the chosen blocks. A locked action says why in its tooltip. */
export function ActionBar({ chosen, hidden, actions, onClear }: ActionBarProps) {
  const tokens = chosen.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const exact = chosen.every((row) => row.exact);
  return (
    <div className="action-bar" role="toolbar" aria-label="Actions on the chosen blocks">
      <span className="action-count" aria-live="polite">
        {pluralText(chosen.length, "block")} chosen, {countedText(tokens, exact)}
        {hidden === 0 ? "" : `, ${hidden} hidden by the filter`}
      </span>
      {actions.map(({ id, title, description, key, run, lock }) => (
        <button
          key={id}
          type="button"
          className={id === "purge" ? "button danger" : "button"}
          aria-disabled={lock !== null}
          title={lock ?? description}
          onClick={() => {
            if (lock === null) run();
          }}
        >
          {lock === null ? null : <LockIcon />}
          {title} {key === "" ? null : <kbd>{key}</kbd>}
        </button>
      ))}
      <button type="button" className="button quiet" onClick={onClear}>
        Clear <kbd>Esc</kbd>
      </button>
    </div>
  );
}
