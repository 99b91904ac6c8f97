import { assert, ok, type Result } from "../base/index.ts";
import { levels } from "../engine/frames/index.ts";
import { buildCommand, type CommandFields, commandExamples, noFields } from "./build-command.ts";
import {
  type Command,
  commandLimits,
  isVerb,
  type Pointer,
  positions,
  type Target,
  type Verb,
  verbs,
} from "./command.ts";
import { type PointerName, pointerNames, printPointer, readNamedPointer, readPointer } from "./pointer.ts";
import { quoteInput, refuse } from "./refuse.ts";
import { type CommandArgument, quoteArgument, splitArguments } from "./split-arguments.ts";

/** Reads the text form, `@verb(...)`. A failure explains in one line what is wrong. */
export function parseCommand(text: string): Result<Command> {
  if (text.length > commandLimits.commandCharsMax) {
    return refuse(`a command has at most ${commandLimits.commandCharsMax} characters`);
  }
  const [, word, rest = ""] = /^@?([A-Za-z]{1,20})[ \t]{0,8}\((.*)$/s.exec(text.trim()) ?? [];
  if (word === undefined) {
    return refuse(`${quoteInput(text)} is no command; write one like ${commandExamples.expand}`);
  }
  const verb = word.toLowerCase();
  if (!isVerb(verb)) return refuse(`there is no @${word}; the commands are ${verbs.join(", ")}`);
  if (!rest.endsWith(")")) return refuse(`@${verb}( is not closed; write it like ${commandExamples[verb]}`);
  const fields = readFields(verb, rest.slice(0, -1));
  return fields.ok ? buildCommand(verb, fields.value) : fields;
}

/** Writes the text form; `parseCommand` reads it back as the same command. */
export function printCommand(command: Command): string {
  const text = `@${command.verb}(${printArguments(command).join(", ")})`;
  assert(text.length <= commandLimits.commandCharsMax, "what was built within its limits prints within them");
  return text;
}

/** Reads a target that a tool or a user gives by itself: `27, 28`, `middle`, `"auth flow"`. */
export function parseTarget(text: string): Result<Target> {
  if (text.length > commandLimits.commandCharsMax) {
    return refuse(`a target has at most ${commandLimits.commandCharsMax} characters; use ranges`);
  }
  const split = splitArguments(text, pointerNames);
  return split.ok ? readPointers(split.value) : split;
}

export function printTarget(target: Target): string {
  return target.map(printPointer).join(", ");
}

type TextField = Exclude<keyof CommandFields, "target">;

/** The names an argument may have besides the names of pointers, each with the field it fills. */
const fieldNames: Readonly<Record<Verb, Readonly<Record<string, TextField>>>> = {
  expand: { level: "level", from: "from" },
  recall: {},
  compress: { level: "level" },
  pin: { position: "position", at: "position" },
  unpin: {},
  focus: {},
  archive: { reason: "reason" },
  update: { text: "text" },
  create: { text: "text", topic: "topic", supersedes: "supersedes" },
  diff: { since: "since" },
  manifest: { detail: "detail" },
};

/** For verbs without a target: the fields that unnamed arguments fill, in this order. */
const fieldOrder: Readonly<Partial<Record<Verb, readonly TextField[]>>> = {
  create: ["text", "topic", "supersedes"],
  diff: ["since"],
  manifest: ["detail"],
};

function readFields(verb: Verb, text: string): Result<CommandFields> {
  const own = fieldNames[verb];
  const order = fieldOrder[verb];
  const names = [...Object.keys(own), ...(order === undefined ? pointerNames : [])];
  const split = splitArguments(text, names);
  if (!split.ok) return split;
  const isField = ({ name }: CommandArgument): boolean => name !== null && Object.hasOwn(own, name);
  const named = split.value.filter(isField).map(({ name, value }) => [own[name ?? ""], value]);
  const fields: CommandFields = { ...noFields, ...Object.fromEntries(named) };
  const rest = split.value.filter((argument) => !isField(argument));
  return order === undefined ? withTarget(verb, fields, rest) : withUnnamed({ verb, order }, fields, rest);
}

function withUnnamed(
  { verb, order }: { readonly verb: Verb; readonly order: readonly TextField[] },
  fields: CommandFields,
  rest: readonly CommandArgument[],
): Result<CommandFields> {
  const open = order.filter((field) => fields[field] === null);
  if (rest.length > open.length) {
    const hint = verb === "create" ? "; put the text in quotes" : "";
    return refuse(`${verb} takes fewer arguments${hint}, for example ${commandExamples[verb]}`);
  }
  const placed = rest.map(({ value }, index) => [open[index] ?? "", value]);
  return ok({ ...fields, ...(Object.fromEntries(placed) as Partial<CommandFields>) });
}

/**
 * The remaining arguments are targets, except a last one that can only be the level, position, reason or
 * text.
 */
function withTarget(
  verb: Verb,
  fields: CommandFields,
  rest: readonly CommandArgument[],
): Result<CommandFields> {
  const last = rest.at(-1);
  const field = last === undefined || rest.length < 2 ? null : lastField(verb, fields, last);
  const target = readPointers(field === null ? rest : rest.slice(0, -1));
  if (!target.ok) return target;
  return ok({ ...fields, target: target.value, ...(field === null ? {} : { [field]: last?.value }) });
}

function lastField(
  verb: Verb,
  fields: CommandFields,
  { name, value, isQuoted }: CommandArgument,
): TextField | null {
  if (name !== null) return null;
  const word = value.trim().toLowerCase();
  const isTopic = readPointer(value).by === "topic";
  switch (verb) {
    case "expand":
      return fields.level === null && levels.some((level) => level === word) ? "level" : null;
    case "compress":
      // Any other word was meant as a level: the refusal then names the valid levels.
      return fields.level === null && isTopic ? "level" : null;
    case "pin":
      return fields.position === null && positions.some((each) => each === word) ? "position" : null;
    case "archive":
      return fields.reason === null && isTopic && isQuoted ? "reason" : null;
    case "update":
      return fields.text === null ? "text" : null;
    default:
      return null;
  }
}

function readPointers(args: readonly CommandArgument[]): Result<Target> {
  const pointers: Pointer[] = [];
  for (const { name, value, isQuoted } of args) {
    if (name === null && !isQuoted && value === "") return refuse("a target is missing between two commas");
    const pointer = name === null ? ok(readPointer(value)) : readNamedPointer(name as PointerName, value);
    if (!pointer.ok) return pointer;
    pointers.push(pointer.value);
  }
  return ok(pointers);
}

function printArguments(command: Command): readonly string[] {
  switch (command.verb) {
    case "expand": {
      const level = command.level === "original" ? [] : [`level: ${command.level}`];
      const from = command.from === undefined ? [] : [`from: ${command.from}`];
      return [printTarget(command.target), ...level, ...from];
    }
    case "compress":
      return [printTarget(command.target), `level: ${command.level}`];
    case "pin":
      return [printTarget(command.target), `position: ${command.position}`];
    case "archive":
      return [printTarget(command.target), `reason: ${quoteArgument(command.reason)}`];
    case "recall":
    case "unpin":
    case "focus":
      return [printTarget(command.target)];
    case "update":
      return [`block-${command.block}`, `text: ${quoteArgument(command.text)}`];
    case "create": {
      const topic = command.topic === null ? [] : [`topic: ${quoteArgument(command.topic)}`];
      const older = command.supersedes === null ? [] : [`supersedes: block-${command.supersedes}`];
      return [quoteArgument(command.text), ...topic, ...older];
    }
    case "diff":
      return command.since === null ? [] : [`since: ${command.since}`];
    case "manifest":
      return [command.detail];
  }
}
