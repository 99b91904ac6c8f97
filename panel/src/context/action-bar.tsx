import type { BlockRow } from "../api/contract.ts";
import { countedText, manyText } from "../base/words.ts";
import { Lock } from "../parts/lock.tsx";
import type { Doing } from "./doings.ts";

export type ActionBarProps = {
  readonly chosen: readonly BlockRow[];
  readonly hidden: number;
  readonly doings: readonly Doing[];
  readonly onClear: () => void;
};

/** What can be done with what is chosen. A thing that cannot be done says why. */
export function ActionBar({ chosen, hidden, doings, onClear }: ActionBarProps) {
  const tokens = chosen.reduce((sum, row) => sum + (row.tokens ?? 0), 0);
  const exact = chosen.every((row) => row.exact);
  return (
    <div className="action-bar" role="toolbar" aria-label="Actions on the selected blocks">
      <span className="action-count" aria-live="polite">
        {manyText(chosen.length, "block")} selected {countedText(tokens, exact)}
        {hidden === 0 ? "" : `, ${hidden} hidden`}
      </span>
      {doings.map(({ id, title, key, run, lock }) => (
        <button
          key={id}
          type="button"
          className="button"
          aria-disabled={lock !== null}
          title={lock ?? title}
          onClick={() => {
            if (lock === null) run();
          }}
        >
          {lock === null ? null : <Lock />}
          {title} {key === "" ? null : <kbd>{key}</kbd>}
        </button>
      ))}
      <button type="button" className="button quiet" onClick={onClear}>
        Clear <kbd>Esc</kbd>
      </button>
    </div>
  );
}
