import { sha256Hex } from "../../base/index.ts";
import type { TranscriptAnswer } from "../../session/index.ts";

/** Where a client runs, and what it is to call the session it goes on with. */
export type Going = {
  readonly id: string;
  readonly timeMs: number;
  /** The project's folder. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A transcript in a client's own form, where that client looks for it. */
export type TranscriptFile = { readonly path: string; readonly text: string; readonly resume: string };
export type WriteTranscript = (transcript: TranscriptAnswer, going: Going) => TranscriptFile;

/** An id that is the same for the same words, in the form of those made by chance. */
export function uuidOf(words: string): string {
  const hex = sha256Hex(words);
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

/** Lines are written in order, a millisecond apart: clients sort by time. */
export function isoTime({ timeMs }: Going, line: number): string {
  return new Date(timeMs + line).toISOString();
}

export function inLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
