import { settingsTable } from "../config/index.ts";
import { hanging, wrapped } from "./format/hanging.ts";
import { firstSteps, type VerbGroup, verbGroups } from "./verb-groups.ts";
import { type Flag, flagText, globalFlags, type Verb, verbTable } from "./verb-table.ts";

/** Exit codes are part of the interface: scripts rely on them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  warned: 3,
  missing: 4,
  stopped: 5,
  refused: 6,
  storage: 7,
  unusable: 126,
  unfound: 127,
  interrupted: 130,
} as const;

/** What a code means, for the help and the reference. `run` ends with the code of the client instead. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.failed, "it failed, or doctor found something broken"],
  [exitCodes.usage, "the arguments or the settings cannot be used"],
  [exitCodes.warned, "doctor found something that needs attention"],
  [exitCodes.missing, "there is no such session, request, block or message"],
  [exitCodes.stopped, "Aperture is not running"],
  [exitCodes.refused, "Aperture did not accept the token"],
  [exitCodes.storage, "what is stored cannot be read now"],
  [exitCodes.unusable, "run: the client cannot be started"],
  [exitCodes.unfound, "run: the client was not found"],
  [exitCodes.interrupted, "interrupted"],
];

/** One screen: what to type first, and where the rest is. */
export function usage(width: number): string {
  return [
    "usage: aperture VERB [OPTIONS]",
    "",
    "first steps:",
    ...hanging(firstSteps, width),
    "",
    "verbs (`aperture` alone is `aperture up`):",
    ...hanging(
      verbGroups.map(({ name, verbs }) => [name, verbs.join(" ")]),
      width,
    ),
    "",
    "more:",
    ...hanging(
      [
        ["aperture help VERB", "what it does, its options and examples; so does `aperture VERB --help`"],
        ["aperture help look", "all verbs of a group, a line for each"],
        ["aperture help all", "all verbs, the options of every verb, settings and exit codes"],
      ],
      width,
    ),
  ].join("\n");
}

/** All there is to say, for those who search. */
export function fullUsage(width: number): string {
  const settings = settingsTable.map(
    ({ name, meaning, defaultText }) => [name, `${meaning} (default: ${defaultText})`] as const,
  );
  return [
    "usage: aperture VERB [OPTIONS]",
    "",
    ...verbGroups.flatMap((group) => [groupUsage(group, width), ""]),
    "options of every verb:",
    ...flagLines(globalFlags, width),
    "",
    "environment:",
    ...hanging(settings, width),
    "",
    "exit codes:",
    ...hanging(
      exitMeanings.map(([code, meaning]) => [`${code}`, meaning]),
      width,
    ),
  ].join("\n");
}

export function groupUsage({ name, about, verbs }: VerbGroup, width: number): string {
  const rows = verbTable
    .filter((verb) => verbs.includes(verb.name))
    .sort((one, other) => verbs.indexOf(one.name) - verbs.indexOf(other.name))
    .map((verb) => [nameAndOperands(verb), verb.about] as const);
  return [...wrapped(`${name}: ${about}`, width), ...hanging(rows, width)].join("\n");
}

export function verbUsage(verb: Verb, width: number): string {
  const own = verb.flags.length === 0 ? [] : ["options:", ...flagLines(verb.flags, width), ""];
  return [
    `usage: aperture ${nameAndOperands(verb)}${verb.passesOn === true ? "" : " [OPTIONS]"}`,
    "",
    ...wrapped(verb.about, width - 2).map((line) => `  ${line}`),
    "",
    "examples:",
    ...verb.examples.map((line) => `  ${line}`),
    "",
    ...own,
    "options of every verb:",
    ...flagLines(globalFlags, width),
  ].join("\n");
}

function nameAndOperands({ name, operands, passesOn }: Verb): string {
  const words = operands.map((operand) => {
    const word = operand.isRepeated === true ? `${operand.name}...` : operand.name;
    return operand.isRequired ? word : `[${word}]`;
  });
  return [name, ...words, ...(passesOn === true ? ["[-- ARGS]"] : [])].join(" ");
}

function flagLines(flags: readonly Flag[], width: number): readonly string[] {
  return hanging(
    flags.map((flag) => [flagText(flag), flag.about]),
    width,
  );
}
