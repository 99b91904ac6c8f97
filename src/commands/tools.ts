import { ok, type Result } from "../base/index.ts";
import { levels } from "../engine/frames/index.ts";
import { buildCommand, type CommandFields, noFields } from "./build-command.ts";
import { type Command, details, isVerb, lowerLevels, positions, type Target, type Verb } from "./command.ts";
import { parseTarget } from "./grammar.ts";
import { joinChoices, quoteInput, refuse } from "./refuse.ts";

type ToolProperty = {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly description?: string;
};

/** A tool as offered to a model. Inputs are flat strings: some models cannot fill anything deeper. */
export type CommandTool = {
  readonly name: string;
  readonly description: string;
  readonly schema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, ToolProperty>>;
    readonly required: readonly string[];
  };
};

const string: ToolProperty = { type: "string" };
const choice = (choices: readonly string[]): ToolProperty => ({ type: "string", enum: choices });
const described = (description: string): ToolProperty => ({ type: "string", description });

/**
 * The verbs of each tool. Tools share verbs because every tool is paid for with every request. Archiving has
 * its own tool, so that the schema itself can require the reason.
 */
const verbsByTool = {
  aperture_read: ["expand", "recall", "diff", "manifest"],
  aperture_manage: ["compress", "pin", "unpin", "focus"],
  aperture_archive: ["archive"],
  aperture_note: ["create", "update"],
} as const satisfies Readonly<Record<string, readonly Verb[]>>;
type CommandToolName = keyof typeof verbsByTool;

export const commandTools: readonly CommandTool[] = [
  tool("aperture_read", {
    description:
      "Read context; changes nothing. expand: pruned or shortened parts in full. recall: find archived " +
      "parts by topic. diff: what changed since a turn. manifest: what the context holds.",
    properties: {
      verb: choice(verbsByTool.aperture_read),
      target: described("27, block-1..block-10, message-12, a list of these, or a topic"),
      level: choice(levels),
      from: described("for expand: character to begin at"),
      since: described("turn number"),
      detail: choice(details),
    },
    required: ["verb"],
  }),
  tool("aperture_manage", {
    description:
      "Shape context; originals are kept. compress: shorten to level. pin, unpin: protect from expiry " +
      "and pruning. focus: parts the current task needs.",
    properties: {
      verb: choice(verbsByTool.aperture_manage),
      target: described("as in aperture_read, or middle, stale"),
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
      verb: choice(verbsByTool.aperture_note),
      text: string,
      topic: string,
      supersedes: described("part id"),
    },
    required: ["verb", "text"],
  }),
];

type InputSchema = CommandTool["schema"];

function tool(
  name: CommandToolName,
  { description, properties, required }: Omit<InputSchema, "type"> & { readonly description: string },
): CommandTool {
  return { name, description, schema: { type: "object", properties, required } };
}

const prefix = "aperture_";

/** A tool named after a verb counts too, though it is never offered: a client could not serve such a call. */
export function isCommandTool(name: string): boolean {
  return Object.hasOwn(verbsByTool, name) || (name.startsWith(prefix) && isVerb(name.slice(prefix.length)));
}

/** Reads the command of a tool call. Models get inputs wrong in small ways; those are accepted. */
export function commandFromCall(name: string, input: unknown): Result<Command> {
  if (!isCommandTool(name))
    return refuse(`there is no tool ${quoteInput(name)}; use ${joinChoices(Object.keys(verbsByTool))}`);
  const toolInput = recordOf(input);
  const verb = readVerb(name, toolInput);
  if (!verb.ok) return verb;
  const fields = fieldsFromInput(verb.value, toolInput);
  if (!fields.ok) return fields;
  if (verb.value === "archive" && (fields.value.reason ?? "").trim() === "") {
    return refuse("archive needs a reason: say in a few words why these parts are not needed any more");
  }
  return buildCommand(verb.value, fields.value);
}

type ToolInput = Readonly<Record<string, unknown>>;

function recordOf(input: unknown): ToolInput {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as ToolInput) : {};
}

/** A tool of one verb has it in its name. A verb that belongs to another tool is accepted all the same. */
function readVerb(name: string, input: ToolInput): Result<Verb> {
  const own = name.slice(prefix.length);
  if (isVerb(own)) return ok(own);
  const choices: readonly string[] = verbsByTool[name as CommandToolName];
  const verb = textOf(input["verb"])?.trim().replace(/^@/, "").toLowerCase() ?? "";
  if (isVerb(verb)) return ok(verb);
  if (name === "aperture_note" && verb === "") return ok("create");
  return refuse(
    `${verb === "" ? "a verb is missing" : `${quoteInput(verb)} is no verb`}: use ${joinChoices(choices)}`,
  );
}

/** The names models use for a target, the usual one first. */
const targetNames = ["target", "targets", "query", "block", "blocks", "id", "ids"] as const;

function fieldsFromInput(verb: Verb, input: ToolInput): Result<CommandFields> {
  const text = (name: string): string | null => textOf(input[name]);
  const makesMemory = verb === "create" || verb === "update";
  const names =
    verb === "update" ? ["supersedes", ...targetNames] : makesMemory ? [] : [...targetNames, "topic"];
  const targetValue = names.map((name) => input[name]).find((value) => valuesOf(value).length > 0);
  const target = readTarget(targetValue);
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

function readTarget(targetValue: unknown): Result<Target> {
  const targets: Target[] = [];
  for (const value of valuesOf(targetValue)) {
    const target = parseTarget(value);
    if (!target.ok) return target;
    targets.push(target.value);
  }
  return ok(targets.flat());
}

const valuesMax = 1_000;

function valuesOf(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value.slice(0, valuesMax) : [value];
  return values.flatMap((each) => textOf(each) ?? []).filter((text) => text.trim() !== "");
}

function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return `${value}`;
  return typeof value === "string" ? value : null;
}
