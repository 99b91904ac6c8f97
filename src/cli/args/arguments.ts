import { parseArgs } from "node:util";
import { nearestWord } from "./nearest-word.ts";
import { type Flag, flagText, type Operand, takesValue } from "./verb-spec.ts";
import {
  type CliVerb,
  globalFlags,
  groupNamed,
  type VerbGroup,
  type VerbName,
  verbGroups,
  verbNamed,
  verbTable,
} from "./verb-table.ts";

/** The given flags by their long names. A switch has the value "". */
export type Flags = ReadonlyMap<string, string>;

/** Null: the first screen. A verb wins over a group of the same name. */
export type HelpTopic =
  | { readonly of: "verb"; readonly verb: CliVerb }
  | { readonly of: "group"; readonly group: VerbGroup }
  | { readonly of: "options" }
  | { readonly of: "all" }
  | null;

export type Invocation =
  | {
      readonly verb: Exclude<VerbName, "help" | "version">;
      readonly operands: readonly string[];
      readonly flags: Flags;
    }
  | { readonly verb: "help"; readonly about: HelpTopic }
  | { readonly verb: "version" }
  | { readonly verb: "misused"; readonly problem: string; readonly about: CliVerb | null };

const everyFlag: readonly Flag[] = [...globalFlags, ...verbTable.flatMap(({ flags }) => flags)];
const verbNames = verbTable.map(({ name }) => name);
/** The topics that `help` knows besides verbs. */
export const helpTopics: readonly string[] = ["all", "options", ...verbGroups.map(({ name }) => name)];

/** `args` are the words after the program's name. Without a verb, the verb is `up`. */
export function readArguments(args: readonly string[]): Invocation {
  const { words, given, problem } = scanArguments(args);
  const flags = new Map(given.map(({ flag, value }) => [flag.name, value]));
  const [name = "up", ...operands] = words;
  const verb = verbNamed(name);
  if (flags.has("version")) return { verb: "version" };
  if (flags.has("help")) return words.length === 0 ? helpOn(undefined) : helpOn(name);
  if (problem !== null) return { verb: "misused", problem, about: verb };
  if (verb === null) return { verb: "misused", problem: unknownText("verb", name, verbNames), about: null };
  const misuse = foreignFlag(verb, given) ?? operandProblem(verb, operands);
  if (misuse !== null) return { verb: "misused", problem: misuse, about: verb };
  if (verb.name === "help") return helpOn(operands[0]);
  return verb.name === "version" ? { verb: "version" } : { verb: verb.name, operands, flags };
}

function helpOn(topic: string | undefined): Invocation {
  if (topic === undefined) return { verb: "help", about: null };
  if (topic === "all" || topic === "options") return { verb: "help", about: { of: topic } };
  const verb = verbNamed(topic);
  if (verb !== null) return { verb: "help", about: { of: "verb", verb } };
  const group = groupNamed(topic);
  if (group !== null) return { verb: "help", about: { of: "group", group } };
  const problem = unknownText("verb", topic, [...verbNames, ...helpTopics]);
  return { verb: "misused", problem, about: null };
}

type GivenFlag = { readonly flag: Flag; readonly value: string };
type ArgumentWords = {
  readonly words: readonly string[];
  readonly given: readonly GivenFlag[];
  /** The first problem with a flag. It is kept until the end, because a later `--help` wins over it. */
  readonly problem: string | null;
};

/** Only whether a flag takes a value matters to the scanner, and that is the same in every verb. */
const scannerOptions = Object.fromEntries(
  everyFlag.map((flag) => [
    flag.name,
    {
      type: takesValue(flag) ? ("string" as const) : ("boolean" as const),
      ...(flag.short === undefined ? {} : { short: flag.short }),
    },
  ]),
);

function scanArguments(args: readonly string[]): ArgumentWords {
  const { tokens } = parseArgs({
    args: [...args],
    options: scannerOptions,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words = tokens.filter((token) => token.kind === "positional");
  const verb = verbNamed(words[0]?.value ?? "");
  // Everything after the program that `run` starts belongs to that program.
  const program = verb?.passesOn === true ? words[1] : undefined;
  const lastIndex = program?.index ?? args.length;
  // A name may mean different things to different verbs: the verb's own flags come first.
  const flags = [...(verb?.flags ?? []), ...everyFlag];
  const read = tokens.flatMap((token) =>
    token.kind === "option" && token.index <= lastIndex ? [readFlag(token, flags)] : [],
  );
  return {
    words: [
      ...words.filter(({ index }) => index <= lastIndex).map(({ value }) => value),
      ...withoutSeparator(args.slice(lastIndex + 1)),
    ],
    given: read.filter((flag) => typeof flag !== "string"),
    problem: read.find((flag) => typeof flag === "string") ?? null,
  };
}

/** A `--` right after the program's name is for the reader of the line; a later one is the program's own. */
function withoutSeparator(rest: readonly string[]): readonly string[] {
  return rest[0] === "--" ? rest.slice(1) : rest;
}

type OptionToken = {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
};

/** The flag, or the problem with it. */
function readFlag({ name, rawName, value, inlineValue }: OptionToken, flags: readonly Flag[]) {
  const flag = flags.find((each) => each.name === name);
  if (flag === undefined) return unknownText("option", rawName, rawName.startsWith("--") ? flagNames : []);
  if (!takesValue(flag)) return value === undefined ? { flag, value: "" } : `--${name} takes no value`;
  if (value === undefined || value === "" || (inlineValue === false && value.startsWith("-"))) {
    return `--${name} needs a value: ${flagText(flag)}`;
  }
  if (flag.isCount === true && !/^[1-9]\d{0,9}$/.test(value)) {
    return `--${name} must be a whole number above 0, not "${value}"`;
  }
  return choiceProblem(`--${name}`, flag, value) ?? { flag, value };
}

const flagNames = everyFlag.map(({ name }) => `--${name}`);

function choiceProblem(name: string, { choices, isOpen }: Flag | Operand, word: string): string | null {
  if (choices === undefined || isOpen === true || choices.includes(word)) return null;
  return `${name} must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}, not "${word}"`;
}

function foreignFlag(verb: CliVerb, given: readonly GivenFlag[]): string | null {
  const known = [...globalFlags, ...verb.flags].map(({ name }) => name);
  const foreign = given.find(({ flag }) => !known.includes(flag.name))?.flag;
  return foreign === undefined ? null : `aperture ${verb.name} has no option --${foreign.name}`;
}

function operandProblem(verb: CliVerb, operands: readonly string[]): string | null {
  const missing = verb.operands.find(({ isRequired }, at) => isRequired && operands[at] === undefined);
  if (missing !== undefined) {
    return `aperture ${verb.name} needs ${missing.name}, for example: ${verb.examples[0]}`;
  }
  for (const [at, operand] of verb.operands.entries()) {
    const word = operands[at];
    const problem = word === undefined ? null : choiceProblem(operand.name, operand, word);
    if (problem !== null) return problem;
  }
  const takesMore = verb.passesOn === true || verb.operands.at(-1)?.isRepeated === true;
  const extra = takesMore ? undefined : operands[verb.operands.length];
  return extra === undefined ? null : `unexpected argument: ${extra}`;
}

function unknownText(what: string, word: string, known: readonly string[]): string {
  const suggestion = nearestWord(word, known);
  return `unknown ${what}: ${word}${suggestion === null ? "" : `; did you mean ${suggestion}?`}`;
}
