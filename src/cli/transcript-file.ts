import { join } from "node:path";
import type { TranscriptFormat, WritableTranscript } from "../transcripts/index.ts";

/** The client's surroundings, and the id of the session it will continue. */
export type TranscriptFileTarget = {
  readonly id: string;
  readonly timeMs: number;
  /** The project's folder. */
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A transcript in a client's own format, at the path where that client looks for it. */
export type TranscriptFile = { readonly path: string; readonly text: string; readonly resume: string };

export function transcriptFile(
  { folder, write }: TranscriptFormat,
  transcript: WritableTranscript,
  { id, timeMs, cwd, home, env }: TranscriptFileTarget,
): TranscriptFile {
  const isoTime = (time: number): string => new Date(time).toISOString();
  const { file, text, resume } = write(transcript, { id, timeMs, cwd, isoTime });
  const path = join(env[folder.variable] ?? join(home, ...folder.usual), ...file);
  return { path, text, resume: resume(path) };
}
