import { must, ok, type Result } from "../base/index.ts";
import { levels } from "../engine/index.ts";
import { buildCommand, type Fields, noFields } from "./build.ts";
import { type Command, details, isVerb, lowerLevels, positions, type Target, type Verb } from "./command.ts";
import { parseTarget, printTarget } from "./grammar.ts";
import { cited, oneOf, refuse } from "./written.ts";

type Property = { readonly type: "string"; readonly enum?: readonly string[]; readonly description?: string };

/** A tool as it is offered to a model. Inputs are flat strings: some models cannot fill anything deeper. */
export type CommandTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, Property>>;
    readonly required: readonly string[];
  };
};

const string: Property = { type: "string" };
const choice = (choices: readonly string[]): Property => ({ type: "string", enum: choices });
const about = (description: string): Property => ({ type: "string", description });

/**
 * Which tool serves which verbs: merged, because every tool is paid for with every request. Archiving stands
 * alone: only so can the schema itself ask for its reason.
 */
const verbsOf = {
  aperture_read: ["expand", "recall", "diff", "manifest"],
  aperture_manage: ["compress", "pin", "unpin", "focus"],
  aperture_archive: ["archive"],
  aperture_note: ["create", "update"],
} as const satisfies Readonly<Record<string, readonly Verb[]>>;
type ToolName = keyof typeof verbsOf;

export const commandTools: readonly CommandTool[] = [
  tool("aperture_read", {
    description:
      "Read context; changes nothing. expand: pruned or shortened parts in full. recall: find archived " +
      "parts by topic. diff: what changed since a turn. manifest: what the context holds.",
    properties: {
      verb: choice(verbsOf.aperture_read),
      target: about("27, block-1..block-10, message-12, a list of these, or a topic"),
      level: choice(levels),
      from: about("for expand: character to begin at"),
      since: about("turn number"),
      detail: choice(details),
    },
    required: ["verb"],
  }),
  tool("aperture_manage", {
    description:
      "Shape context; originals are kept. compress: shorten to level. pin, unpin: protect from expiry " +
      "and pruning. focus: parts the current task needs.",
    properties: {
      verb: choice(verbsOf.aperture_manage),
      target: about("as in aperture_read, or middle, stale"),
      level: choice(lowerLevels),
      position: choice(positions),
    },
    required: ["verb", "target"],
  }),
  tool("aperture_archive", {
    description: "Prune parts that are no longer needed; they can be recalled.",
    properties: { target: string, reason: string },
    required: ["target", "reason"],
  }),
  tool("aperture_note", {
    description:
      "Keep a self-contained note. create: something learned. update: what replaces the part in supersedes.",
    properties: {
      verb: choice(verbsOf.aperture_note),
      text: string,
      topic: string,
      supersedes: about("part id"),
    },
    required: ["verb", "text"],
  }),
];

type Schema = CommandTool["input_schema"];

function tool(
  name: ToolName,
  { description, properties, required }: Omit<Schema, "type"> & { readonly description: string },
): CommandTool {
  return { name, description, input_schema: { type: "object", properties, required } };
}

const prefix = "aperture_";

/** Also a tool that was never offered but named after a verb: no client would know what to do with it. */
export function isCommandTool(name: string): boolean {
  return Object.hasOwn(verbsOf, name) || (name.startsWith(prefix) && isVerb(name.slice(prefix.length)));
}

/** What a call asks for. Whoever fills in inputs gets them wrong in small ways; those are forgiven. */
export function commandOf(name: string, input: unknown): Result<Command> {
  if (!isCommandTool(name))
    return refuse(`there is no tool ${cited(name)}; use ${oneOf(Object.keys(verbsOf))}`);
  const given = recordOf(input);
  const verb = verbIn(name, given);
  if (!verb.ok) return verb;
  const fields = fieldsIn(verb.value, given);
  if (!fields.ok) return fields;
  if (verb.value === "archive" && (fields.value.reason ?? "").trim() === "") {
    return refuse("archive needs a reason: say in a few words why these parts are not needed any more");
  }
  return buildCommand(verb.value, fields.value);
}

/** The call that asks for a command. */
export function callOf(command: Command): {
  readonly name: ToolName;
  readonly input: Readonly<Record<string, string>>;
} {
  const { verb } = command;
  const name = toolFor(verb);
  return { name, input: { ...(verbsOf[name].length === 1 ? {} : { verb }), ...inputOf(command) } };
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

function toolFor(verb: Verb): ToolName {
  const names = Object.keys(verbsOf) as readonly ToolName[];
  const name = names.find((each) => verbsOf[each].some((one) => one === verb));
  return must(name, "every verb has a tool");
}

type Given = Readonly<Record<string, unknown>>;

function recordOf(input: unknown): Given {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Given) : {};
}

/** A tool of one verb says it in its name; the verb of another tool is done all the same. */
function verbIn(name: string, given: Given): Result<Verb> {
  const own = name.slice(prefix.length);
  if (isVerb(own)) return ok(own);
  const choices: readonly string[] = verbsOf[name as ToolName];
  const said = textOf(given["verb"])?.trim().replace(/^@/, "").toLowerCase() ?? "";
  if (isVerb(said)) return ok(said);
  if (name === "aperture_note" && said === "") return ok("create");
  return refuse(`${said === "" ? "a verb is missing" : `${cited(said)} is no verb`}: use ${oneOf(choices)}`);
}

/** Names under which models give a target, the usual first. */
const targetNames = ["target", "targets", "query", "block", "blocks", "id", "ids"] as const;

function fieldsIn(verb: Verb, given: Given): Result<Fields> {
  const text = (name: string): string | null => textOf(given[name]);
  const isNote = verb === "create" || verb === "update";
  const names = verb === "update" ? ["supersedes", ...targetNames] : isNote ? [] : [...targetNames, "topic"];
  const said = names.map((name) => given[name]).find((value) => valuesOf(value).length > 0);
  const target = targetOf(said);
  if (!target.ok) return target;
  return ok({
    ...noFields,
    target: target.value,
    level: text("level"),
    from: text("from"),
    position: text("position"),
    reason: text("reason"),
    text: text("text"),
    topic: text("topic"),
    supersedes: text("supersedes"),
    since: text("since"),
    detail: text("detail"),
  });
}

function targetOf(said: unknown): Result<Target> {
  const targets: Target[] = [];
  for (const value of valuesOf(said)) {
    const target = parseTarget(value);
    if (!target.ok) return target;
    targets.push(target.value);
  }
  return ok(targets.flat());
}

const valuesMax = 1_000;

function valuesOf(said: unknown): readonly string[] {
  const values = Array.isArray(said) ? said.slice(0, valuesMax) : [said];
  return values.flatMap((value) => textOf(value) ?? []).filter((text) => text.trim() !== "");
}

function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return `${value}`;
  return typeof value === "string" ? value : null;
}
