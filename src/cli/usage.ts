import { settingsTable } from "../config/index.ts";
import { aligned } from "./format/table.ts";
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

export function usage(): string {
  return [
    "usage: aperture [VERB] [OPTIONS]",
    "",
    ...indented(verbTable.map((verb) => [nameAndOperands(verb), verb.about])),
    "",
    "options of every verb:",
    ...flagLines(globalFlags),
    "",
    "environment:",
    ...indented(
      settingsTable.map(({ name, meaning, defaultText }) => [name, `${meaning} (default: ${defaultText})`]),
    ),
    "",
    "exit codes:",
    ...indented(exitMeanings.map(([code, meaning]) => [`${code}`, meaning])),
    "",
    "aperture help VERB says more about one of them.",
  ].join("\n");
}

export function verbUsage(verb: Verb): string {
  return [
    `usage: aperture ${nameAndOperands(verb)}${verb.passesOn === true ? "" : " [OPTIONS]"}`,
    "",
    `  ${verb.about}`,
    "",
    ...(verb.flags.length === 0 ? [] : ["options:", ...flagLines(verb.flags), ""]),
    "options of every verb:",
    ...flagLines(globalFlags),
    "",
    "examples:",
    ...verb.examples.map((line) => `  ${line}`),
  ].join("\n");
}

function nameAndOperands({ name, operands, passesOn }: Verb): string {
  const words = operands.map((operand) => {
    const word = operand.isRepeated === true ? `${operand.name}...` : operand.name;
    return operand.isRequired ? word : `[${word}]`;
  });
  return [name, ...words, ...(passesOn === true ? ["[-- ARGS]"] : [])].join(" ");
}

function flagLines(flags: readonly Flag[]): readonly string[] {
  return indented(flags.map((flag) => [flagText(flag), flag.about]));
}

function indented(rows: readonly (readonly string[])[]): readonly string[] {
  return aligned(rows.map((row) => row.map((text) => ({ text })))).map((line) => `  ${line}`);
}
