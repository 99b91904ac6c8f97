import type { Environment, Settings, SettingsResult } from "../config/index.ts";
import type { Api } from "./api/api-client.ts";
import type { Flags } from "./args/arguments.ts";
import type { CliProblem } from "./outcome.ts";
import type { Screen } from "./screen.ts";

/** The surroundings of the process as values, so that tests can pass their own. */
export type SystemInfo = {
  readonly env: Environment;
  readonly home: string;
  readonly cwd: string;
  readonly nowMs: () => number;
};

export type VerbCall = {
  readonly operands: readonly string[];
  readonly flags: Flags;
  readonly version: string;
  readonly screen: Screen;
  readonly system: SystemInfo;
  readonly settingsResult: SettingsResult;
};

/** A call with valid settings. */
export type ReadyCall = VerbCall & { readonly settings: Settings; readonly api: Api };

/** Returns the exit code. */
export type VerbFunction = (call: ReadyCall) => number | Promise<number>;

/** Prints the problem and returns its exit code. */
export function reportProblem({ screen }: VerbCall, { exit, message }: CliProblem): number {
  screen.err(message);
  return exit;
}

export function isQuiet({ flags }: VerbCall): boolean {
  return flags.has("quiet");
}
