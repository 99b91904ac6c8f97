import { nearest } from "./nearest.ts";
import { groupNamed, type VerbGroup, verbGroups } from "./verb-groups.ts";
import { type Flag, globalFlags, type Verb, type VerbName, verbNamed, verbTable } from "./verb-table.ts";

/** What was given for each flag, by its long name; a switch has the value "". */
export type Flags = ReadonlyMap<string, string>;

/** Null: the first screen. A verb wins over a group of its name. */
export type HelpTopic =
  | { readonly of: "verb"; readonly verb: Verb }
  | { readonly of: "group"; readonly group: VerbGroup }
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
  | { readonly verb: "misused"; readonly problem: string; readonly about: Verb | null };

type Scanned = {
  readonly words: readonly string[];
  readonly flags: readonly (readonly [Flag, string])[];
  readonly problem: string | null;
};

const everyFlag: readonly Flag[] = [...globalFlags, ...verbTable.flatMap(({ flags }) => flags)];

/** `args` is what follows the program's name. No verb at all means `up`. */
export function readArguments(args: readonly string[]): Invocation {
  const { words, flags: given, problem } = scan(args);
  const flags = new Map(given.map(([flag, value]) => [flag.name, value]));
  const [name = "up", ...operands] = words;
  const verb = verbNamed(name);
  if (flags.has("version")) return { verb: "version" };
  if (flags.has("help")) return words.length === 0 ? helpAbout(undefined) : helpAbout(name);
  if (problem !== null) return { verb: "misused", problem, about: verb };
  if (verb === null) return { verb: "misused", problem: unknown("verb", name, verbNames), about: null };
  const misuse = flagMisuse(verb, given) ?? operandMisuse(verb, operands);
  if (misuse !== null) return { verb: "misused", problem: misuse, about: verb };
  if (verb.name === "help") return helpAbout(operands[0]);
  return verb.name === "version" ? { verb: "version" } : { verb: verb.name, operands, flags };
}

const verbNames = verbTable.map(({ name }) => name);
/** What `help` knows besides verbs. */
export const helpTopics: readonly string[] = ["all", ...verbGroups.map(({ name }) => name)];

function helpAbout(name: string | undefined): Invocation {
  if (name === undefined) return { verb: "help", about: null };
  if (name === "all") return { verb: "help", about: { of: "all" } };
  const verb = verbNamed(name);
  // Help about help is the verb; its group has little more to say.
  if (verb !== null) return { verb: "help", about: { of: "verb", verb } };
  const group = groupNamed(name);
  if (group !== null) return { verb: "help", about: { of: "group", group } };
  const known = [...verbNames, ...helpTopics];
  return { verb: "misused", problem: unknown("verb", name, known), about: null };
}

/** Tells flags from words. The first problem waits until the end, because `--help` behind it still counts. */
function scan(args: readonly string[]): Scanned {
  const words: string[] = [];
  const flags: (readonly [Flag, string])[] = [];
  let problem: string | null = null;
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? "";
    if (passesOn(words)) return { words: [...words, ...passedOn(args.slice(at))], flags, problem };
    if (argument === "--") continue;
    if (!/^-./.test(argument)) {
      words.push(argument);
      continue;
    }
    const read = readFlag(argument, args[at + 1], flagsBehind(words[0]));
    if (typeof read === "string") problem ??= read;
    else {
      flags.push([read.flag, read.value]);
      if (read.tookNext) at += 1;
    }
  }
  return { words, flags, problem };
}

/** The name of the program has been read; nothing behind it is ours. */
function passesOn(words: readonly string[]): boolean {
  return words.length === 2 && verbNamed(words[0] ?? "")?.passesOn === true;
}

/** One `--` right behind the program's name is for readers of the line; a later one is the program's own. */
function passedOn(rest: readonly string[]): readonly string[] {
  return rest[0] === "--" ? rest.slice(1) : rest;
}

type ReadFlag = { readonly flag: Flag; readonly value: string; readonly tookNext: boolean };

/** One name may mean one thing to one verb and another to the next: its own come first. */
function flagsBehind(verb: string | undefined): readonly Flag[] {
  return [...(verbNamed(verb ?? "")?.flags ?? []), ...everyFlag];
}

function readFlag(argument: string, next: string | undefined, flags: readonly Flag[]): ReadFlag | string {
  const [, dashes = "", name = "", value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  const flag = flags.find((each) => (dashes === "--" ? each.name : each.short) === name);
  if (flag === undefined) {
    return unknown("option", `${dashes}${name}`, dashes === "--" ? flagNames(everyFlag) : []);
  }
  if (flag.value === undefined) {
    return value === undefined ? { flag, value: "", tookNext: false } : `--${flag.name} takes no value`;
  }
  const given = value ?? (next?.startsWith("-") === true ? undefined : next);
  if (given === undefined || given === "")
    return `--${flag.name} needs a value: --${flag.name} ${flag.value}`;
  if (flag.isCount === true && !/^[1-9]\d{0,9}$/.test(given)) {
    return `--${flag.name} must be a whole number above 0, not "${given}"`;
  }
  return { flag, value: given, tookNext: value === undefined };
}

function flagMisuse(verb: Verb, given: readonly (readonly [Flag, string])[]): string | null {
  const known = [...globalFlags, ...verb.flags].map(({ name }) => name);
  const foreign = given.find(([flag]) => !known.includes(flag.name))?.[0];
  return foreign === undefined ? null : `aperture ${verb.name} has no option --${foreign.name}`;
}

function operandMisuse(verb: Verb, operands: readonly string[]): string | null {
  const missing = verb.operands.find(({ isRequired }, at) => isRequired && operands[at] === undefined);
  if (missing !== undefined) {
    return `aperture ${verb.name} needs ${missing.name}, for example: ${verb.examples[0]}`;
  }
  const takesMore = verb.passesOn === true || verb.operands.at(-1)?.isRepeated === true;
  const extra = takesMore ? undefined : operands[verb.operands.length];
  return extra === undefined ? null : `unexpected argument: ${extra}`;
}

function flagNames(flags: readonly Flag[]): readonly string[] {
  return flags.map(({ name }) => `--${name}`);
}

function unknown(what: string, word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return `unknown ${what}: ${word}${meant === null ? "" : `; did you mean ${meant}?`}`;
}
