import { must } from "../../src/base/index.ts";
import { type Command, printTarget, type Verb } from "../../src/commands/index.ts";
import { type CommandTool, commandTools } from "../../src/commands/tools.ts";

/** The tool call that `commandFromCall` reads as this command. */
export function commandCall(command: Command): {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
} {
  const { verb } = command;
  const { name, schema } = toolFor(verb);
  return { name, input: { ...("verb" in schema.properties ? { verb } : {}), ...inputOf(command) } };
}

/** A tool of several verbs lists them; a tool of one verb is named after it. */
function toolFor(verb: Verb): CommandTool {
  const hasVerb = ({ name, schema }: CommandTool): boolean =>
    schema.properties["verb"]?.enum?.includes(verb) ?? name === `aperture_${verb}`;
  return must(commandTools.find(hasVerb), "every verb has a tool");
}

function inputOf(command: Command): Readonly<Record<string, string>> {
  switch (command.verb) {
    case "expand":
      return {
        target: printTarget(command.target),
        ...(command.level === "original" ? {} : { level: command.level }),
        ...(command.from === undefined ? {} : { from: `${command.from}` }),
      };
    case "compress":
      return { target: printTarget(command.target), level: command.level };
    case "pin":
      return { target: printTarget(command.target), position: command.position };
    case "archive":
      return { target: printTarget(command.target), reason: command.reason };
    case "recall":
    case "unpin":
    case "focus":
      return { target: printTarget(command.target) };
    case "update":
      return { text: command.text, supersedes: `${command.block}` };
    case "create":
      return {
        text: command.text,
        ...(command.topic === null ? {} : { topic: command.topic }),
        ...(command.supersedes === null ? {} : { supersedes: `${command.supersedes}` }),
      };
    case "diff":
      return command.since === null ? {} : { since: `${command.since}` };
    case "manifest":
      return { detail: command.detail };
  }
}
