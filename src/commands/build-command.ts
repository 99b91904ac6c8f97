import { cutText, limits, ok, type Result } from "../base/index.ts";
import { levels } from "../engine/frames/index.ts";
import {
  type Command,
  commandLimits,
  details,
  lowerLevels,
  noReason,
  type Pointer,
  positions,
  type Target,
  type Verb,
} from "./command.ts";
import { readPointer } from "./pointer.ts";
import { joinChoices, quoteInput, refuse } from "./refuse.ts";

/** The fields of a command as unchecked text: the text form and the tool form are both read into them. */
export type CommandFields = {
  readonly target: Target;
  readonly level: string | null;
  readonly from: string | null;
  readonly position: string | null;
  readonly reason: string | null;
  readonly text: string | null;
  readonly topic: string | null;
  readonly supersedes: string | null;
  readonly since: string | null;
  readonly detail: string | null;
};

export const noFields: CommandFields = {
  target: [],
  level: null,
  from: null,
  position: null,
  reason: null,
  text: null,
  topic: null,
  supersedes: null,
  since: null,
  detail: null,
};

/** An example of each verb; refusals show it. */
export const commandExamples: Readonly<Record<Verb, string>> = {
  expand: "@expand(block-27)",
  recall: '@recall("database migration")',
  compress: '@compress(block-12, "trimmed")',
  pin: "@pin(block-31)",
  unpin: "@unpin(block-31)",
  focus: "@focus(block-12, block-27)",
  archive: '@archive(block-1..block-10, "setup done")',
  update: '@update(block-12, "what is true now")',
  create: '@create("what was learned", topic: "auth")',
  diff: "@diff(since: 31)",
  manifest: "@manifest(detailed)",
};

export function buildCommand(verb: Verb, fields: CommandFields): Result<Command> {
  switch (verb) {
    case "update":
      return buildUpdate(fields);
    case "create":
      return buildCreate(fields);
    case "diff":
      return buildDiff(fields);
    case "manifest": {
      const detail = readChoice("detail", fields.detail ?? "detailed", details);
      return detail.ok ? ok({ verb, detail: detail.value }) : detail;
    }
    default:
      return buildTargeted(verb, fields);
  }
}

type TargetedVerb = Exclude<Verb, "update" | "create" | "diff" | "manifest">;

function buildTargeted(verb: TargetedVerb, fields: CommandFields): Result<Command> {
  const target = fields.target.map(cutTopic);
  const problem = targetProblem(verb, target);
  if (problem !== null) return refuse(problem);
  switch (verb) {
    case "expand": {
      const level = readChoice("level", fields.level ?? "original", levels);
      return level.ok ? buildExpand({ verb, target, level: level.value }, fields) : level;
    }
    case "compress": {
      const level = readChoice("level to compress to", fields.level ?? "trimmed", lowerLevels);
      return level.ok ? ok({ verb, target, level: level.value }) : level;
    }
    case "pin": {
      const position = readChoice("position", fields.position ?? "top", positions);
      return position.ok ? ok({ verb, target, position: position.value }) : position;
    }
    case "archive":
      return ok({ verb, target, reason: reasonOf(fields.reason) });
    default:
      return ok({ verb, target });
  }
}

function buildExpand(
  command: Extract<Command, { readonly verb: "expand" }>,
  { from }: CommandFields,
): Result<Command> {
  if (isBlank(from)) return ok(command);
  const [, digits] = /^(\d{1,15})$/.exec(from.trim()) ?? [];
  if (digits === undefined) return refuse(`${quoteInput(from)} is no character to begin at: write a number`);
  return ok(Number(digits) === 0 ? command : { ...command, from: Number(digits) });
}

/** A topic that is too long is cut, not refused; its end matters least. */
function cutTopic(pointer: Pointer): Pointer {
  if (pointer.by !== "topic") return pointer;
  return { by: "topic", words: cutText(pointer.words, commandLimits.topicCharsMax) };
}

function reasonOf(reason: string | null): string {
  return isBlank(reason) ? noReason : cutText(reason, limits.reasonCharsMax);
}

function targetProblem(verb: Verb, target: Target): string | null {
  if (target.length === 0) return `${verb} needs a target, for example ${commandExamples[verb]}`;
  const max = commandLimits.pointersMax;
  if (target.length > max)
    return `${verb} takes at most ${max} targets at once; use a range such as block-1..10`;
  const topics = target.filter(({ by }) => by === "topic").length;
  if (topics > commandLimits.topicsMax) {
    return `${verb} takes at most ${commandLimits.topicsMax} topics at once; put words with commas in quotes`;
  }
  const isEmptyTopic = target.some((pointer) => pointer.by === "topic" && isBlank(pointer.words));
  return isEmptyTopic ? `an empty topic finds nothing; write ${commandExamples[verb]}` : null;
}

function buildUpdate({ target, text }: CommandFields): Result<Command> {
  const [pointer, ...more] = target;
  const isOne = pointer?.by === "block" && pointer.first === pointer.last && more.length === 0;
  if (!isOne) return refuse(`update takes one block and the new text, for example ${commandExamples.update}`);
  const memory = memoryText("update", text);
  return memory.ok ? ok({ verb: "update", block: pointer.first, text: memory.value }) : memory;
}

function buildCreate({ text, topic, supersedes }: CommandFields): Result<Command> {
  const memory = memoryText("create", text);
  if (!memory.ok) return memory;
  if (topic !== null && topic.length > limits.topicCharsMax) {
    return refuse(`a topic has at most ${limits.topicCharsMax} characters; this one has ${topic.length}`);
  }
  const older = isBlank(supersedes) ? ok(null) : oneBlock(supersedes);
  if (!older.ok) return older;
  const named = isBlank(topic) ? null : topic;
  return ok({ verb: "create", text: memory.value, topic: named, supersedes: older.value });
}

function memoryText(verb: "update" | "create", text: string | null): Result<string> {
  if (isBlank(text)) return refuse(`${verb} needs a text, for example ${commandExamples[verb]}`);
  const max = commandLimits.memoryCharsMax;
  return text.length > max
    ? refuse(`a note has at most ${max} characters; this one has ${text.length}`)
    : ok(text);
}

function oneBlock(text: string): Result<number> {
  const pointer = readPointer(text);
  const isOne = pointer.by === "block" && pointer.first === pointer.last;
  return isOne
    ? ok(pointer.first)
    : refuse(`supersedes takes one block such as block-12, not ${quoteInput(text)}`);
}

function buildDiff({ since }: CommandFields): Result<Command> {
  if (isBlank(since)) return ok({ verb: "diff", since: null });
  const [, digits] = /^(?:turn[- ]?)?(\d{1,15})$/i.exec(since.trim()) ?? [];
  if (digits === undefined)
    return refuse(`${quoteInput(since)} is no turn: write a number, ${commandExamples.diff}`);
  return ok({ verb: "diff", since: Number(digits) });
}

function readChoice<T extends string>(what: string, word: string, choices: readonly T[]): Result<T> {
  const normalized = word.trim().toLowerCase();
  const choice = choices.find((each) => each === normalized);
  return choice === undefined
    ? refuse(`${quoteInput(word)} is no ${what}: use ${joinChoices(choices)}`)
    : ok(choice);
}

function isBlank(text: string | null): text is null | "" {
  return text === null || text.trim() === "";
}
