import { helpTopics } from "../args/arguments.ts";
import { type Flag, takesValue } from "../args/verb-spec.ts";
import { type CliVerb, globalFlags, verbTable } from "../args/verb-table.ts";

/** The words that may follow a verb, for the script of any shell. */
export type VerbCompletion = {
  readonly verb: CliVerb;
  readonly flags: readonly Flag[];
  /** The words for all operands together: the scripts do not count operands. */
  readonly operands: readonly string[];
  /** One of the operands is a session. */
  readonly takesSession: boolean;
};

export function verbCompletions(): readonly VerbCompletion[] {
  return verbTable.map((verb) => ({
    verb,
    flags: [...verb.flags, ...globalFlags],
    operands: verb.name === "help" ? [...verbTable.map(({ name }) => name), ...helpTopics] : choicesOf(verb),
    takesSession: verb.operands.some(({ name }) => name === "SESSION"),
  }));
}

function choicesOf({ operands }: CliVerb): readonly string[] {
  return operands.flatMap(({ choices = [] }) => choices);
}

/** Flags that take a value, one of each name. */
export function flagsWithValue(): readonly Flag[] {
  const all = verbCompletions().flatMap(({ flags }) => flags);
  return all.filter((flag, at) => takesValue(flag) && all.findIndex(({ name }) => name === flag.name) === at);
}

/** Their values may stand before the verb and must not be taken for it. */
export const globalFlagsWithValue: readonly string[] = globalFlags
  .filter(takesValue)
  .map(({ name }) => `--${name}`);

/** Prints the ids of sessions, and nothing if Aperture does not run. */
export const sessionsCommand = "aperture sessions --quiet --plain 2>/dev/null | cut -f1";

export function flagWords(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
}
