import { type FormEvent, type ReactNode, useState } from "react";
import { wordsOf } from "../api/client.ts";
import { moneyText } from "../base/words.ts";
import { CloseButton, Dialog } from "../parts/dialog.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { act, plan, type Wanted, type When } from "./acts.ts";
import { PlanView } from "./plan-view.tsx";
import { usePlan } from "./planned.tsx";

type FormProps = { readonly session: string; readonly onClose: () => void };

/** New words in place of a block's. */
export function UpdateForm({ session, block, onClose }: FormProps & { readonly block: number }) {
  const [text, setText] = useState("");
  const wanted = text.trim() === "" ? null : { verb: "update", target: String(block), text };
  return (
    <MemoryForm {...{ session, wanted, onClose }} title={`Update #${block}`} word="Update">
      <p className="dim">
        A memory with these words takes the place of the block; the block is kept as what it replaces.
      </p>
      <TextArea label="What holds now" text={text} onText={setText} />
    </MemoryForm>
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
  const more = {
    ...(topic === "" ? {} : { topic }),
    ...(supersedes.length === 0 ? {} : { supersedes: supersedes.join(",") }),
  };
  const wanted = text.trim() === "" ? null : { verb: "create", text, ...more };
  return (
    <MemoryForm {...{ session, wanted, onClose }} title="Create a memory" word="Create">
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
    </MemoryForm>
  );
}

type MemoryFormProps = FormProps & {
  readonly title: string;
  readonly word: string;
  /** Null: nothing was written yet. */
  readonly wanted: Wanted | null;
  readonly children: ReactNode;
};

const typingMs = 300;

/** Words that become a memory, and what that comes to while they are written. */
function MemoryForm({ session, title, word, wanted, onClose, children }: MemoryFormProps) {
  const { planned, problem } = usePlan(session, wanted, typingMs);
  const apply = (when: When): void => {
    if (wanted === null) return;
    void act(session, wanted, when);
    onClose();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    apply("cache-break");
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {planned === null ? null : <PlanView plan={planned} />}
        {problem === null ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="buttons">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          {planned === null || planned.cut === null ? null : (
            <button type="button" className="button" onClick={() => apply("now")}>
              Apply now{planned.bill === null ? "" : ` (${moneyText(planned.bill.costNow)})`}
            </button>
          )}
          <button type="submit" className="button primary" disabled={wanted === null}>
            {word}
          </button>
        </div>
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
