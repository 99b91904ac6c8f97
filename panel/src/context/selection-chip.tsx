import type { SelectionAnswer } from "../api/contract.ts";
import { useDeferredResource } from "../api/resource.ts";
import { pluralText } from "../base/format.ts";
import { selectForModel, sessionPath, streamQuery } from "./actions.ts";

/** Shows the selection: the blocks the model is pointed at, in the words the model will read. */
export function SelectionChip({ session }: { readonly session: string }) {
  const path = `${sessionPath(session)}/selection${streamQuery()}`;
  const { data } = useDeferredResource<SelectionAnswer>(path);
  if (data === null || data.selected.length === 0) return null;
  const { selected, told, mode } = data;
  return (
    <div className="selection-chip" role="status">
      <b>{pluralText(selected.length, "block")} selected</b>
      {mode === "observe" ? (
        <span>The session is in mode observe: the model is not told.</span>
      ) : (
        <span>
          With each prompt, until you clear it, the model reads <code>{told ?? "nothing"}</code>
        </span>
      )}
      <button type="button" className="button small" onClick={() => void selectForModel(session, [])}>
        Clear
      </button>
    </div>
  );
}
