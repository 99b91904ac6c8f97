import type { Paint } from "./format/paint.ts";

/** The output of a verb: results go to `out`, everything else to `err`. */
export type Screen = {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  readonly paint: Paint;
  /** Standard output is a terminal, so a person reads it and not a program. */
  readonly isTerminal: boolean;
  /** The verb may prompt: input and error output are terminals, and `--no-input` is not set. */
  readonly mayPrompt: boolean;
};
