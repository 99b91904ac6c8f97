import { type FormEvent, useState } from "react";
import { wordsOf, write } from "../api/client.ts";
import type { PricedSession, RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { manyText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";
import { CloseButton, Dialog } from "../parts/dialog.tsx";
import { say, warn } from "../parts/toasts.tsx";

export type SessionDialogProps = {
  readonly row: PricedSession;
  readonly onClose: () => void;
  /** It is gone: whoever shows it has to go elsewhere. */
  readonly onDeleted?: () => void;
};

/** What can be done to a session as a whole. */
export function SessionDialog({ row, onClose, onDeleted }: SessionDialogProps) {
  return (
    <Dialog title={`Session ${row.name}`} className="session-dialog" onClose={onClose}>
      <h2>{row.name}</h2>
      <p className="dim">
        {row.client} · {row.model ?? "no model yet"} · <code>{row.id}</code>
      </p>
      <Rename row={row} onClose={onClose} />
      <Export row={row} />
      <Delete
        row={row}
        onDeleted={() => {
          onClose();
          onDeleted?.();
        }}
      />
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

function Rename({ row, onClose }: SessionDialogProps) {
  const [name, setName] = useState(row.name);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = name.trim() === "" ? null : name;
    void attempt(async () => {
      const path = `${sessionPath(row.id)}/name`;
      const answer = await write<RouteAnswers["RenameAnswer"]>("PUT", path, { name: wanted });
      say(`The session is called “${answer.name}”`);
      refresh("/sessions");
      onClose();
    });
  };
  return (
    <form className="section" onSubmit={submit}>
      <div className="field-row">
        <label className="field">
          Name (empty: its first prompt)
          <input
            className="input"
            value={name}
            maxLength={60}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <button type="submit" className="button" disabled={name === row.name}>
          Rename
        </button>
      </div>
    </form>
  );
}

const formats = [
  { format: "jsonl", title: "JSON lines", about: "everything, and can be checked" },
  { format: "html", title: "Web page", about: "one file to read" },
  { format: "md", title: "Markdown", about: "the talk as text" },
  { format: "har", title: "HAR", about: "for HTTP tools" },
] as const;

function Export({ row }: Pick<SessionDialogProps, "row">) {
  return (
    <section className="section">
      <h3>Export</h3>
      <p className="dim">As a file, without credentials and what looks like a secret.</p>
      <ul className="export-forms">
        {formats.map(({ format, title, about }) => (
          <li key={format}>
            <a
              className="button"
              href={`/api/v1${sessionPath(row.id)}/export?format=${format}`}
              download={`aperture-${row.id.slice(0, 8)}.${format}`}
            >
              {title}
            </a>
            <span className="dim">{about}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const deleteWord = "delete";

type DeleteProps = Pick<SessionDialogProps, "row"> & { readonly onDeleted: () => void };

/** What goes, what stays and what cannot be taken back is said before it is done. */
function Delete({ row, onDeleted }: DeleteProps) {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const path = sessionPath(row.id);
      const answer = await write<RouteAnswers["DeleteAnswer"]>("DELETE", path, { confirm: row.id });
      const erased = `${manyText(answer.frames, "frame")} and ${answer.bodies} stored bodies erased`;
      say(`Deleted “${row.name}”: ${erased}`);
      // The list alone: nothing is asked any more of what is gone.
      refresh("/sessions?");
      onDeleted();
    });
  };
  return (
    <form className="section danger" onSubmit={submit}>
      <h3>Delete</h3>
      <p>
        Erases all that Aperture has stored of it, for good: its log of {manyText(row.seq, "frame")}, every
        block at every level, and the bodies of {manyText(row.requests, "request")}. There is no undo.
      </p>
      <p className="dim">
        Not touched: what other sessions hold as well, exports and backups, and what the client itself has
        written down. If the client goes on, that is recorded as a new session.
      </p>
      <div className="field-row">
        <label className="field">
          Type “{deleteWord}” to confirm
          <input
            className="input"
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <button type="submit" className="button danger" disabled={typed !== deleteWord}>
          Delete for good
        </button>
      </div>
    </form>
  );
}

async function attempt(doing: () => Promise<void>): Promise<void> {
  try {
    await doing();
  } catch (error) {
    warn(wordsOf(error));
  }
}
