import { helpTopics } from "../arguments.ts";
import { type Flag, globalFlags, type Verb, verbTable } from "../verb-table.ts";

/** What may stand behind a verb, in the form in which every shell is told of it. */
export type VerbWords = {
  readonly verb: Verb;
  readonly flags: readonly Flag[];
  /** Words for the operands, all of them together: a shell does not count them. */
  readonly operands: readonly string[];
  /** Whether a session may stand there. */
  readonly takesSession: boolean;
};

export function verbWords(): readonly VerbWords[] {
  return verbTable.map((verb) => ({
    verb,
    flags: [...verb.flags, ...globalFlags],
    operands: verb.name === "help" ? [...verbTable.map(({ name }) => name), ...helpTopics] : choicesOf(verb),
    takesSession: verb.operands.some(({ name }) => name === "SESSION"),
  }));
}

function choicesOf({ operands }: Verb): readonly string[] {
  return operands.flatMap(({ choices = [] }) => choices);
}

/** Flags whose value has known words, once each. */
export function valuedFlags(): readonly Flag[] {
  const all = verbWords().flatMap(({ flags }) => flags);
  return all.filter(
    ({ name, value }, at) => value !== undefined && all.findIndex((each) => each.name === name) === at,
  );
}

/** Those whose value may stand before the verb, where it is not to be taken for one. */
export const valuedBefore: readonly string[] = globalFlags
  .filter(({ value }) => value !== undefined)
  .map(({ name }) => `--${name}`);

/** Asks for the sessions there are; silent where Aperture does not run. */
export const sessionsCommand = "aperture sessions --quiet --plain 2>/dev/null | cut -f1";

export function flagWords(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
}
