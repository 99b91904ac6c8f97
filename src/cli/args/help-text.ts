import { settingsTable } from "../../config/index.ts";
import { exitMeanings } from "../exit-codes.ts";
import { twoColumns, wrapText } from "../format/two-columns.ts";
import { type Flag, flagText, type Operand } from "./verb-spec.ts";
import { type CliVerb, globalFlags, type VerbGroup, verbGroups } from "./verb-table.ts";

/** The commands for a new user, in the order in which they make sense. */
export const firstSteps: readonly (readonly [line: string, about: string])[] = [
  ["aperture demo", "watch Aperture work on a scripted session: no key, no network"],
  ["aperture analyze", "what your transcripts contain and cost, and what Aperture would have saved"],
  ["aperture run claude", "run your own client through Aperture"],
  ["aperture open", "open the panel of the running Aperture"],
  ["aperture doctor", "find out what is wrong, and how to fix it"],
];

/** One screen: the first steps, the names of all verbs, and how to get more help. */
export function usage(width: number): string {
  return [
    "usage: aperture VERB [OPTIONS]",
    "",
    "first steps:",
    ...twoColumns(firstSteps, width),
    "",
    "verbs (`aperture` alone means `aperture up`):",
    ...twoColumns(
      verbGroups.map(({ name, verbs }) => [name, verbs.map((verb) => verb.name).join(" ")]),
      width,
    ),
    "",
    "more help:",
    ...twoColumns(
      [
        ["aperture help VERB", "options and examples of a verb, like `aperture VERB --help`"],
        ["aperture help look", "all verbs of a group"],
        ["aperture help options", "the global options"],
        ["aperture help all", "everything, with settings and exit codes"],
      ],
      width,
    ),
  ].join("\n");
}

/** All help on one page, to search in. */
export function fullUsage(width: number): string {
  const settings = settingsTable.map(
    ({ name, meaning, defaultText }) => [name, `${meaning} (default: ${defaultText})`] as const,
  );
  return [
    "usage: aperture VERB [OPTIONS]",
    "",
    ...verbGroups.flatMap((group) => [groupUsage(group, width), ""]),
    globalUsage(width),
    "",
    "environment variables:",
    ...twoColumns(settings, width),
    "",
    "exit codes:",
    ...twoColumns(
      exitMeanings.map(([code, meaning]) => [`${code}`, meaning]),
      width,
    ),
  ].join("\n");
}

export function groupUsage({ name, about, verbs }: VerbGroup, width: number): string {
  const rows = verbs.map((verb) => {
    const names = verb.operands.map((operand) => operandText(operand, operand.name));
    return [[verb.name, ...names, ...passedWords(verb)].join(" "), verb.about] as const;
  });
  return [...wrapText(`${name}: ${about}`, width), ...twoColumns(rows, width)].join("\n");
}

export function globalUsage(width: number): string {
  return ["global options, for every verb:", ...flagLines(globalFlags, width)].join("\n");
}

export function verbUsage(verb: CliVerb, width: number): string {
  const options = verb.flags.length === 0 ? [] : ["options:", ...flagLines(verb.flags, width), ""];
  return [
    `usage: ${usageLine(verb)}`,
    "",
    ...wrapText(verb.about, width - 2).map((line) => `  ${line}`),
    "",
    ...options,
    "examples:",
    ...verb.examples.map((line) => `  ${line}`),
    "",
    ...wrapText("Every verb also takes the global options: `aperture help options`.", width),
  ].join("\n");
}

/** Flags of a verb that starts a program must come before that program's name. */
function usageLine(verb: CliVerb): string {
  const words = [...verb.operands.map(choicesText), ...passedWords(verb)];
  const after = verb.passesOn === true ? ["[OPTIONS]", ...words] : [...words, "[OPTIONS]"];
  return ["aperture", verb.name, ...after].join(" ");
}

function choicesText(operand: Operand): string {
  const { name, choices, isOpen } = operand;
  return operandText(operand, choices === undefined || isOpen === true ? name : choices.join("|"));
}

function operandText({ isRequired, isRepeated }: Operand, word: string): string {
  const repeated = isRepeated === true ? `${word}...` : word;
  return isRequired ? repeated : `[${repeated}]`;
}

function passedWords({ passesOn }: CliVerb): readonly string[] {
  return passesOn === true ? ["[-- ARGS]"] : [];
}

function flagLines(flags: readonly Flag[], width: number): readonly string[] {
  return twoColumns(
    flags.map((flag) => [flagText(flag), flag.about]),
    width,
  );
}
