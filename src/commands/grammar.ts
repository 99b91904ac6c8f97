import { assert, ok, type Result } from "../base/index.ts";
import { levels } from "../engine/index.ts";
import { type Argument, quoted, splitArguments } from "./arguments.ts";
import { buildCommand, examples, type Fields, noFields } from "./build.ts";
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
import { cited, refuse } from "./written.ts";

/** Reads the text form, `@verb(...)`. What it cannot read it explains in one line. */
export function parseCommand(text: string): Result<Command> {
  if (text.length > commandLimits.commandCharsMax) {
    return refuse(`a command has at most ${commandLimits.commandCharsMax} characters`);
  }
  const [, word, rest = ""] = /^@?([A-Za-z]{1,20})[ \t]{0,8}\((.*)$/s.exec(text.trim()) ?? [];
  if (word === undefined) {
    return refuse(`${cited(text)} is no command; write one like ${examples.expand}`);
  }
  const verb = word.toLowerCase();
  if (!isVerb(verb)) return refuse(`there is no @${word}; the commands are ${verbs.join(", ")}`);
  if (!rest.endsWith(")")) return refuse(`@${verb}( is not closed; write it like ${examples[verb]}`);
  const fields = fieldsOf(verb, rest.slice(0, -1));
  return fields.ok ? buildCommand(verb, fields.value) : fields;
}

/** The text form that is read back as the same command. */
export function printCommand(command: Command): string {
  const text = `@${command.verb}(${printArguments(command).join(", ")})`;
  assert(text.length <= commandLimits.commandCharsMax, "what was built within its limits prints within them");
  return text;
}

/** What a tool or a person gives as target alone: `27, 28`, `middle`, `"auth flow"`. */
export function parseTarget(text: string): Result<Target> {
  if (text.length > commandLimits.commandCharsMax) {
    return refuse(`a target has at most ${commandLimits.commandCharsMax} characters; use ranges`);
  }
  const read = splitArguments(text, pointerNames);
  return read.ok ? pointersOf(read.value) : read;
}

export function printTarget(target: Target): string {
  return target.map(printPointer).join(", ");
}

type TextField = Exclude<keyof Fields, "target">;

/** What arguments may be called besides the names of pointers, and which field is meant. */
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

/** Verbs without a target: the fields their arguments fill when they have no names, in this order. */
const inOrder: Readonly<Partial<Record<Verb, readonly TextField[]>>> = {
  create: ["text", "topic", "supersedes"],
  diff: ["since"],
  manifest: ["detail"],
};

function fieldsOf(verb: Verb, text: string): Result<Fields> {
  const own = fieldNames[verb];
  const order = inOrder[verb];
  const names = [...Object.keys(own), ...(order === undefined ? pointerNames : [])];
  const split = splitArguments(text, names);
  if (!split.ok) return split;
  const isField = ({ name }: Argument): boolean => name !== null && Object.hasOwn(own, name);
  const named = split.value.filter(isField).map(({ name, value }) => [own[name ?? ""], value]);
  const given = { ...noFields, ...(Object.fromEntries(named) as Partial<Fields>) };
  const rest = split.value.filter((argument) => !isField(argument));
  return order === undefined ? pointedFields(verb, given, rest) : orderedFields({ verb, order }, given, rest);
}

function orderedFields(
  { verb, order }: { readonly verb: Verb; readonly order: readonly TextField[] },
  given: Fields,
  rest: readonly Argument[],
): Result<Fields> {
  const open = order.filter((field) => given[field] === null);
  if (rest.length > open.length) {
    const hint = verb === "create" ? "; put the text in quotes" : "";
    return refuse(`${verb} takes fewer arguments${hint}, for example ${examples[verb]}`);
  }
  const placed = rest.map(({ value }, index) => [open[index] ?? "", value]);
  return ok({ ...given, ...(Object.fromEntries(placed) as Partial<Fields>) });
}

/** All arguments are targets, but for a last one that can only be the level, position, reason or text. */
function pointedFields(verb: Verb, given: Fields, rest: readonly Argument[]): Result<Fields> {
  const last = rest.at(-1);
  const field = last === undefined || rest.length < 2 ? null : lastField(verb, given, last);
  const target = pointersOf(field === null ? rest : rest.slice(0, -1));
  if (!target.ok) return target;
  return ok({ ...given, target: target.value, ...(field === null ? {} : { [field]: last?.value }) });
}

function lastField(verb: Verb, given: Fields, { name, value, quoted: isQuoted }: Argument): TextField | null {
  if (name !== null) return null;
  const word = value.trim().toLowerCase();
  const isTopic = readPointer(value).by === "topic";
  switch (verb) {
    case "expand":
      return given.level === null && levels.some((level) => level === word) ? "level" : null;
    case "compress":
      // Whatever else stands there was meant as a level: the answer names the levels there are.
      return given.level === null && isTopic ? "level" : null;
    case "pin":
      return given.position === null && positions.some((each) => each === word) ? "position" : null;
    case "archive":
      return given.reason === null && isTopic && isQuoted ? "reason" : null;
    case "update":
      return given.text === null ? "text" : null;
    default:
      return null;
  }
}

function pointersOf(read: readonly Argument[]): Result<Target> {
  const pointers: Pointer[] = [];
  for (const { name, value, quoted: isQuoted } of read) {
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
      return [printTarget(command.target), `reason: ${quoted(command.reason)}`];
    case "recall":
    case "unpin":
    case "focus":
      return [printTarget(command.target)];
    case "update":
      return [`block-${command.block}`, `text: ${quoted(command.text)}`];
    case "create": {
      const topic = command.topic === null ? [] : [`topic: ${quoted(command.topic)}`];
      const older = command.supersedes === null ? [] : [`supersedes: block-${command.supersedes}`];
      return [quoted(command.text), ...topic, ...older];
    }
    case "diff":
      return command.since === null ? [] : [`since: ${command.since}`];
    case "manifest":
      return [command.detail];
  }
}
