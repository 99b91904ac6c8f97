import { sha256Hex } from "../../base/index.ts";
import type { TranscriptAnswer } from "../../queries/answers/index.ts";

/** The client's surroundings, and the id of the session it will continue. */
export type TranscriptTarget = {
  readonly id: string;
  readonly timeMs: number;
  /** The project's folder. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A transcript in a client's own format, at the path where that client looks for it. */
export type WrittenTranscriptFile = { readonly path: string; readonly text: string; readonly resume: string };
export type TranscriptWriter = (
  transcript: TranscriptAnswer,
  target: TranscriptTarget,
) => WrittenTranscriptFile;

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
export function isoTime({ timeMs }: TranscriptTarget, line: number): string {
  return new Date(timeMs + line).toISOString();
}

export function toJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
