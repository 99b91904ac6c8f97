import { type FormEvent, useState } from "react";
import { wordsOf } from "../api/client.ts";
import { CloseButton, Dialog } from "../parts/dialog.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { act, plan } from "./acts.ts";

type FormProps = { readonly session: string; readonly onClose: () => void };

/** New words in place of a block's. */
export function UpdateForm({ session, block, onClose }: FormProps & { readonly block: number }) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void act(session, { verb: "update", target: String(block), text });
    onClose();
  };
  return (
    <Dialog title={`Update block ${block}`} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>Update #{block}</h2>
        <p className="dim">
          A memory with these words takes the place of the block; the block is kept as what it replaces.
        </p>
        <TextArea label="What holds now" text={text} onText={setText} />
        <Buttons onClose={onClose} isReady={text.trim() !== ""} word="Update" />
      </form>
    </Dialog>
  );
}

/** Something to be remembered. */
export function CreateForm({
  session,
  supersedes,
  onClose,
}: FormProps & { readonly supersedes: readonly number[] }) {
  const [text, setText] = useState("");
  const [topic, setTopic] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const more = {
      ...(topic === "" ? {} : { topic }),
      ...(supersedes.length === 0 ? {} : { supersedes: supersedes.join(",") }),
    };
    void act(session, { verb: "create", text, ...more });
    onClose();
  };
  return (
    <Dialog title="Create a memory" onClose={onClose}>
      <form onSubmit={submit}>
        <h2>Create a memory</h2>
        <label className="field">
          Topic
          <input
            className="input"
            value={topic}
            maxLength={80}
            onChange={(event) => setTopic(event.target.value)}
          />
        </label>
        <TextArea label="What is to be remembered" text={text} onText={setText} />
        <Buttons onClose={onClose} isReady={text.trim() !== ""} word="Create" />
      </form>
    </Dialog>
  );
}

type Search =
  | { readonly is: "typing" | "searching" }
  | { readonly is: "found"; readonly text: string }
  | { readonly is: "failed"; readonly problem: string };

/** What the model would get if it recalled these words; nothing is changed by looking. */
export function RecallForm({ session, onClose }: FormProps) {
  const [words, setWords] = useState("");
  const [search, setSearch] = useState<Search>({ is: "typing" });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSearch({ is: "searching" });
    plan(session, { verb: "recall", target: JSON.stringify(words) })
      .then(({ text }) => setSearch({ is: "found", text }))
      .catch((error: unknown) => setSearch({ is: "failed", problem: wordsOf(error) }));
  };
  return (
    <Dialog title="Recall" onClose={onClose} className="wide">
      <form onSubmit={submit}>
        <h2>Recall</h2>
        <p className="dim">
          Finds blocks by what they say, whether they are shown or not, as the model would.
        </p>
        <div className="field-row">
          <input
            className="input"
            autoFocus
            aria-label="Words to recall"
            value={words}
            onChange={(event) => {
              setWords(event.target.value);
              setSearch({ is: "typing" });
            }}
          />
          <button type="submit" className="button primary" disabled={words.trim() === ""}>
            Recall
          </button>
        </div>
        <div aria-live="polite">
          {search.is === "searching" ? <p className="dim">searching…</p> : null}
          {search.is === "failed" ? <p className="problem">{search.problem}</p> : null}
          {search.is === "found" ? <ScrollText label="What was found">{search.text}</ScrollText> : null}
        </div>
        <CloseButton onClose={onClose} />
      </form>
    </Dialog>
  );
}

type TextAreaProps = {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
};

function TextArea({ label, text, onText }: TextAreaProps) {
  return (
    <label className="field">
      {label}
      <textarea className="input" rows={6} value={text} onChange={(event) => onText(event.target.value)} />
    </label>
  );
}

type ButtonsProps = { readonly onClose: () => void; readonly isReady: boolean; readonly word: string };

function Buttons({ onClose, isReady, word }: ButtonsProps) {
  return (
    <div className="buttons">
      <button type="button" className="button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" className="button primary" disabled={!isReady}>
        {word}
      </button>
    </div>
  );
}
