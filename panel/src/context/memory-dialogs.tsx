import { type FormEvent, type ReactNode, useState } from "react";
import { moneyText } from "../base/format.ts";
import { Dialog } from "../components/dialog.tsx";
import { type CommandFields, runCommand, type When } from "./actions.ts";
import { PreviewFacts, usePreview } from "./change-dialog.tsx";

type CommonProps = { readonly session: string; readonly onClose: () => void };

/** Replaces a block with a new memory. */
export function UpdateMemoryDialog({ session, block, onClose }: CommonProps & { readonly block: number }) {
  const [text, setText] = useState("");
  const command = text.trim() === "" ? null : { verb: "update", target: String(block), text };
  return (
    <MemoryDialog {...{ session, command, onClose }} title={`Update #${block}`} submitTitle="Update">
      <p className="dim">
        A memory with this text replaces the block. The block stays stored as its predecessor.
      </p>
      <TextArea label="New text" text={text} onText={setText} />
    </MemoryDialog>
  );
}

/** Creates a memory. */
export function CreateMemoryDialog({
  session,
  supersedes,
  onClose,
}: CommonProps & { readonly supersedes: readonly number[] }) {
  const [text, setText] = useState("");
  const [topic, setTopic] = useState("");
  const more = {
    ...(topic === "" ? {} : { topic }),
    ...(supersedes.length === 0 ? {} : { supersedes: supersedes.join(",") }),
  };
  const command = text.trim() === "" ? null : { verb: "create", text, ...more };
  return (
    <MemoryDialog {...{ session, command, onClose }} title="Create a memory" submitTitle="Create">
      <label className="field">
        Topic
        <input
          className="input"
          value={topic}
          maxLength={80}
          onChange={(event) => setTopic(event.target.value)}
        />
      </label>
      <TextArea label="Text" text={text} onText={setText} />
    </MemoryDialog>
  );
}

type MemoryDialogProps = CommonProps & {
  readonly title: string;
  readonly submitTitle: string;
  /** Null while the text is empty. */
  readonly command: CommandFields | null;
  readonly children: ReactNode;
};

const typingMs = 300;

/** A form for the text of a memory. The preview follows the text. */
function MemoryDialog({ session, title, submitTitle, command, onClose, children }: MemoryDialogProps) {
  const { preview, problem } = usePreview(session, command, typingMs);
  const apply = (when: When): void => {
    if (command === null) return;
    void runCommand(session, command, when);
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
        {preview === null ? null : <PreviewFacts preview={preview} />}
        {problem === null ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="buttons">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          {preview === null || preview.cut === null ? null : (
            <button type="button" className="button" onClick={() => apply("now")}>
              Apply now{preview.bill === null ? "" : ` (${moneyText(preview.bill.costNow)})`}
            </button>
          )}
          <button type="submit" className="button primary" disabled={command === null}>
            {submitTitle}
          </button>
        </div>
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
