import { isCommandTool } from "../../commands/index.ts";
import { type ManifestField, type Note, readNote } from "../../notes/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { ReasonCode } from "../answers/diff-answers.ts";
import type { BodyUnit } from "./body-units.ts";

export type OwnCode = Extract<
  ReasonCode,
  "tools" | "instructions" | "header" | "manifest" | "change-note" | "command" | "answer"
>;

/** The kind of a unit of ours, by its position and its beginning; null if it looks like none of ours. */
export function ownCode({ unit }: BodyUnit, bytes: Uint8Array): OwnCode | null {
  if (unit.section === "tools") return isCommandTool(unit.key.split(":")[1] ?? "") ? "tools" : null;
  const part = protocolOf(unit).read.part(bytes);
  if (part.type === "call") return isCommandTool(part.name) ? "command" : null;
  return part.type === "text" ? textCode(part.text) : null;
}

const codes: Readonly<Partial<Record<Note["type"], OwnCode>>> = {
  instructions: "instructions",
  manifest: "manifest",
  "change-note": "change-note",
  header: "header",
  "message-header": "header",
  "part-header": "header",
  placeholder: "header",
  answer: "answer",
};

function textCode(text: string): OwnCode | null {
  const note = readNote(text);
  return note === null ? null : (codes[note.type] ?? null);
}

/** Whether a manifest or change note names the user's selection. */
export function namesSelection(text: string): boolean {
  const note = readNote(text);
  if (note?.type === "manifest") return note.lines.flat().some(isSelection);
  const changes = note?.type === "change-note" ? note.changes.changes : [];
  return changes.some(({ actor, what }) => actor === "user" && what === "selected");
}

function isSelection(field: ManifestField): boolean {
  if (field.type === "since")
    return field.changes.changes.some(({ actor, what }) => actor === "user" && what === "selected");
  return field.type === "selected" || (field.type === "zone" && field.content?.type === "selected");
}

/** The session's nonce, read from notes of ours; null if there are none. */
export function nonceIn(texts: Iterable<string>): string | null {
  for (const text of texts) {
    const note = readNote(text);
    if (note !== null) return note.nonce;
  }
  return null;
}
