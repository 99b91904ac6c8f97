import type { Environment, Settings, SettingsResult } from "../config/index.ts";
import type { Flags } from "./arguments.ts";
import type { Api } from "./client.ts";
import type { Paint } from "./format/paint.ts";
import type { Problem } from "./outcome.ts";

/** Where a verb may write: what was asked for goes out, remarks go to err. */
export type Screen = {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  readonly paint: Paint;
  /** Whether somebody looks at what goes out, or a program reads it. */
  readonly isTerminal: boolean;
  /** Whether somebody can be asked: both ends are a terminal, and it was not forbidden. */
  readonly isAsking: boolean;
};

/** The world around the process, as values. */
export type World = {
  readonly env: Environment;
  readonly home: string;
  readonly cwd: string;
  readonly nowMs: () => number;
};

/** One call of a verb. */
export type Call = {
  readonly operands: readonly string[];
  readonly flags: Flags;
  readonly version: string;
  readonly screen: Screen;
  readonly world: World;
  readonly read: SettingsResult;
};

/** With settings that can be used. */
export type ReadyCall = Call & { readonly settings: Settings; readonly api: Api };

/** Answers with the exit code. */
export type VerbFunction = (call: ReadyCall) => number | Promise<number>;

/** Says what happened and answers with the code. */
export function giveUp({ screen }: Call, { exit, message }: Problem): number {
  screen.err(message);
  return exit;
}

export function isQuiet({ flags }: Call): boolean {
  return flags.has("quiet");
}
