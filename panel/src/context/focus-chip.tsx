import type { SelectionAnswer } from "../api/contract.ts";
import { manyText } from "../base/words.ts";

export type FocusChipProps = { readonly focus: SelectionAnswer | null; readonly onClear: () => void };

/** What the user points the model at, in the words the model will read. */
export function FocusChip({ focus, onClear }: FocusChipProps) {
  if (focus === null || focus.selected.length === 0) return null;
  const { selected, told, mode } = focus;
  return (
    <div className="focus-chip" role="status">
      <b>Focused {manyText(selected.length, "block")}</b>
      {mode === "observe" ? (
        <span>The session is only observed: its model is told nothing.</span>
      ) : (
        <span>
          with the next prompt, and until you clear it, the model reads <code>{told ?? "nothing"}</code>
        </span>
      )}
      <button type="button" className="button small" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}
