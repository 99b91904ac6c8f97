import { type FormEvent, useState } from "react";
import { errorText, write } from "../api/client.ts";
import type { PricedSession, RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { pluralText } from "../base/format.ts";
import { CloseButton, Dialog } from "../components/dialog.tsx";
import { showError, showToast } from "../components/toasts.tsx";
import { sessionPath } from "../context/actions.ts";

export type SessionDialogProps = {
  readonly row: PricedSession;
  readonly onClose: () => void;
  /** Called after the deletion, so that the screen of the session can be left. */
  readonly onDeleted?: () => void;
};

/** Renames, exports or deletes a session. */
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
    const newName = name.trim() === "" ? null : name;
    void attempt(async () => {
      const path = `${sessionPath(row.id)}/name`;
      const answer = await write<RouteAnswers["RenameAnswer"]>("PUT", path, { name: newName });
      showToast(`Session renamed to “${answer.name}”`);
      refresh("/sessions");
      onClose();
    });
  };
  return (
    <form className="section" onSubmit={submit}>
      <div className="field-row">
        <label className="field">
          Name (empty: the first prompt)
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
  { format: "jsonl", title: "JSON lines", about: "the complete log, verifiable" },
  { format: "html", title: "Web page", about: "one file to read in a browser" },
  { format: "md", title: "Markdown", about: "the conversation as text" },
  { format: "har", title: "HAR", about: "for HTTP tools" },
] as const;

function Export({ row }: Pick<SessionDialogProps, "row">) {
  return (
    <section className="section">
      <h3>Export</h3>
      <p className="dim">A file without credentials and suspected secrets.</p>
      <ul className="export-formats">
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

/** Deletes the session after the user has typed the word. */
function Delete({ row, onDeleted }: DeleteProps) {
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const path = sessionPath(row.id);
      const answer = await write<RouteAnswers["DeleteAnswer"]>("DELETE", path, { confirm: row.id });
      const erased = `${pluralText(answer.frames, "frame")} and ${answer.bodies} stored bodies erased`;
      showToast(`Deleted “${row.name}”: ${erased}`);
      // Only the list is read again: the deleted session has no resources.
      refresh("/sessions?");
      onDeleted();
    });
  };
  return (
    <form className="section danger" onSubmit={submit}>
      <h3>Delete</h3>
      <p>
        This erases everything Aperture has stored of the session: its log of {pluralText(row.seq, "frame")},
        every block at every level, and the bodies of {pluralText(row.requests, "request")}. It cannot be
        undone.
      </p>
      <p className="dim">
        Content that other sessions share, exports, backups and the client’s own files stay. If the client
        continues, Aperture records a new session.
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
          Delete permanently
        </button>
      </div>
    </form>
  );
}

async function attempt(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    showError(errorText(error));
  }
}
