import { type AnswerHead, readAnswerHead } from "./answers.ts";
import { type ChangeNote, readChangeNote } from "./change-note.ts";
import {
  type HeaderNote,
  type MessageHeaderNote,
  type PartHeaderNote,
  readHeader,
  readMessageHeader,
  readPartHeader,
} from "./header.ts";
import { type OfferNote, readOffers } from "./hints.ts";
import { instructionsStart, readInstructionsNonce } from "./instructions.ts";
import { type LevelNote, readLevelLine } from "./level-line.ts";
import { type ManifestNote, readManifestNote } from "./manifest-note.ts";
import { type MemoryNote, readMemoryLine } from "./memory-line.ts";
import { continuesOwnLine } from "./own-line.ts";
import { type PlaceholderNote, readPlaceholder } from "./placeholder.ts";
import { type RangesNote, readRangesNote } from "./range.ts";
import { type RecalledNote, readRecalled } from "./recalled.ts";
import { readSelection, type SelectionNote } from "./selection.ts";

export type { ManifestField } from "./manifest-note.ts";

/** A note of ours, read back from the text that was sent. */
export type Note =
  | { readonly type: "instructions"; readonly nonce: string }
  | ({ readonly type: "manifest" } & ManifestNote)
  | ({ readonly type: "change-note" } & ChangeNote)
  | ({ readonly type: "header" } & HeaderNote)
  | ({ readonly type: "message-header" } & MessageHeaderNote)
  | ({ readonly type: "part-header" } & PartHeaderNote)
  | ({ readonly type: "placeholder" } & PlaceholderNote)
  | ({ readonly type: "level" } & LevelNote)
  | ({ readonly type: "ranges" } & RangesNote)
  | ({ readonly type: "memory" } & MemoryNote)
  | ({ readonly type: "offer" } & OfferNote)
  | ({ readonly type: "selection" } & SelectionNote)
  | ({ readonly type: "recalled" } & RecalledNote)
  | ({ readonly type: "answer" } & AnswerHead);

/**
 * Reads a text that holds one note, or a note and lines behind it. Null if it is not in the form of any note.
 * The form alone proves nothing: only a note with the nonce of the session is ours.
 */
export function readNote(text: string): Note | null {
  if (text.startsWith(instructionsStart)) {
    const nonce = readInstructionsNonce(text);
    return nonce === null ? null : { type: "instructions", nonce };
  }
  return readWhole(text) ?? readFirstLine(text);
}

/** A manifest or a list of ranges with the lines that belong to it. */
function readWhole(text: string): Note | null {
  const [first = "", ...lines] = text.split("\n");
  const end = lines.findIndex((line) => !continuesOwnLine(line));
  const whole = [first, ...(end === -1 ? lines : lines.slice(0, end))].join("\n");
  const manifest = readManifestNote(whole);
  if (manifest !== null) return { type: "manifest", ...manifest };
  const ranges = readRangesNote(whole);
  return ranges === null ? null : { type: "ranges", ...ranges };
}

type LineReader = (line: string) => Note | null;

function reader<T extends Note["type"]>(
  type: T,
  read: (line: string) => Omit<Extract<Note, { readonly type: T }>, "type"> | null,
): LineReader {
  return (line) => {
    const note = read(line);
    return note === null ? null : ({ type, ...note } as Note);
  };
}

const lineReaders: readonly LineReader[] = [
  reader("header", readHeader),
  reader("change-note", readChangeNote),
  reader("message-header", readMessageHeader),
  reader("placeholder", readPlaceholder),
  reader("part-header", readPartHeader),
  reader("level", readLevelLine),
  reader("memory", readMemoryLine),
  reader("offer", readOffers),
  reader("selection", readSelection),
  reader("recalled", readRecalled),
  reader("answer", readAnswerHead),
];

function readFirstLine(text: string): Note | null {
  const end = text.indexOf("\n");
  const line = end === -1 ? text : text.slice(0, end);
  for (const read of lineReaders) {
    const note = read(line);
    if (note !== null) return note;
  }
  return null;
}
