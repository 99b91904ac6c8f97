import { sha256Hex } from "../base/index.ts";
import type { Part } from "../content/index.ts";

/** A message of a context that a client is to continue. */
export type WritableMessage = { readonly role: "user" | "assistant"; readonly content: readonly Part[] };
export type WritableTranscript = { readonly model: string | null; readonly rows: readonly WritableMessage[] };

/** The id of the session that the client will continue, and its surroundings. */
export type TranscriptTarget = {
  readonly id: string;
  readonly timeMs: number;
  /** Writes a time as ISO 8601 with milliseconds. */
  readonly isoTime: (timeMs: number) => string;
  /** The project's folder. */
  readonly cwd: string;
};

/** A transcript in a client's own format. */
export type WrittenTranscript = {
  /** The client looks for it at this path below its folder. */
  readonly file: readonly string[];
  readonly text: string;
  /** The command that continues from the file at a path. */
  readonly resume: (path: string) => string;
};

/** A client that continues sessions from files. */
export type TranscriptFormat = {
  /** The client's own folder: named by a variable, else below the user's home. */
  readonly folder: { readonly variable: string; readonly usual: readonly string[] };
  readonly write: (transcript: WritableTranscript, target: TranscriptTarget) => WrittenTranscript;
};

/** A UUID derived from a text: the same text gives the same id. */
export function uuidOf(text: string): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}

/** Lines are a millisecond apart, because clients sort by time. */
export function isoTime({ timeMs, isoTime: write }: TranscriptTarget, line: number): string {
  return write(timeMs + line);
}

export function toJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
