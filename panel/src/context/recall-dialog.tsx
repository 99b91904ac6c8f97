import { type FormEvent, useState } from "react";
import { errorText } from "../api/client.ts";
import { CloseButton, Dialog } from "../components/dialog.tsx";
import { ScrollText } from "../components/scroll-text.tsx";
import { previewCommand } from "./actions.ts";

type Search =
  | { readonly status: "typing" | "searching" }
  | { readonly status: "found"; readonly text: string }
  | { readonly status: "failed"; readonly problem: string };

export type RecallDialogProps = { readonly session: string; readonly onClose: () => void };

/** Shows the result the model would get from recall. It changes nothing. */
export function RecallDialog({ session, onClose }: RecallDialogProps) {
  const [words, setWords] = useState("");
  const [search, setSearch] = useState<Search>({ status: "typing" });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSearch({ status: "searching" });
    previewCommand(session, { verb: "recall", target: JSON.stringify(words) })
      .then(({ text }) => setSearch({ status: "found", text }))
      .catch((error: unknown) => setSearch({ status: "failed", problem: errorText(error) }));
  };
  return (
    <Dialog title="Recall" onClose={onClose} className="wide">
      <form onSubmit={submit}>
        <h2>Recall</h2>
        <p className="dim">
          Searches the blocks of this session by words, archived ones included. The model would get the same
          result.
        </p>
        <div className="field-row">
          <input
            className="input"
            autoFocus
            aria-label="Words to recall"
            value={words}
            onChange={(event) => {
              setWords(event.target.value);
              setSearch({ status: "typing" });
            }}
          />
          <button type="submit" className="button primary" disabled={words.trim() === ""}>
            Recall
          </button>
        </div>
        <div aria-live="polite">
          {search.status === "searching" ? <p className="dim">Searching…</p> : null}
          {search.status === "failed" ? <p className="problem">{search.problem}</p> : null}
          {search.status === "found" ? <ScrollText label="Search result">{search.text}</ScrollText> : null}
        </div>
        <CloseButton onClose={onClose} />
      </form>
    </Dialog>
  );
}
