import { betaFor } from "./betas.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import { type Block, isEffortOnly, type ParsedMessage, type ParsedRequest, placeOf } from "./request.ts";
import { isServerBlock } from "./rules-messages.ts";
import { definitionProblems, toolName } from "./rules-tools.ts";

const efforts = ["low", "medium", "high", "xhigh", "max"];

/** System messages inside the conversation: where they may stand, and what may be in them. */
export function* midSystemProblems(request: ParsedRequest): Generator<Problem> {
  // Effort-only messages are invisible to the rules about neighbours.
  const spoken = [...request.messages.entries()].filter(([, message]) => !isEffortOnly(message));
  for (const [at, [number, message]] of spoken.entries()) {
    if (message.role !== "system") continue;
    const place = `messages.${number}`;
    if (!request.rules.midSystem) yield invalid(`${place}.role`, "this model has no system messages");
    if (!mayFollow(spoken[at - 1]?.[1])) {
      yield invalid(place, "a system message follows a user message or a result of a server tool");
    }
    const next = spoken[at + 1]?.[1];
    if (next !== undefined && next.role !== "assistant") {
      yield invalid(place, "a system message is the last one or is followed by the assistant");
    }
  }
  for (const [number, message] of request.messages.entries()) {
    if (message.role === "system")
      yield* systemFieldProblems({ request, message, place: `messages.${number}` });
  }
  yield* toolChangeProblems(request);
}

function mayFollow(before: ParsedMessage | undefined): boolean {
  if (before === undefined) return false;
  return (
    before.role === "user" ||
    (before.role === "assistant" && isServerBlock(before.content.at(-1)?.type ?? ""))
  );
}

type FieldQuestion = {
  readonly request: ParsedRequest;
  readonly message: ParsedMessage;
  readonly place: string;
};

function* systemFieldProblems({ request, message, place }: FieldQuestion): Generator<Problem> {
  const output = message.asSent["output_config"] ?? null;
  const effort = isObject(output) ? (output["effort"] ?? null) : null;
  if (output !== null && !isObject(output)) yield invalid(`${place}.output_config`, "expected an object");
  if (effort !== null && !efforts.includes(String(effort))) {
    yield invalid(`${place}.output_config.effort`, `expected one of ${efforts.join(", ")}`);
  }
  if (isEffortOnly(message) && effort === null) yield invalid(place, "a message must not be empty");
  const clearAt = message.asSent["clear_at"] ?? null;
  if (clearAt === null) return;
  if (!request.betas.has(betaFor.clearAt))
    yield invalid(`${place}.clear_at`, `needs the beta ${betaFor.clearAt}`);
  if (clearAt !== "next_user_message" && clearAt !== "never") {
    yield invalid(`${place}.clear_at`, "expected next_user_message or never");
  }
  if (clearAt === "next_user_message" && message.content.some(({ type }) => type !== "text")) {
    yield invalid(`${place}.content`, "a message with clear_at holds text only");
  }
}

/** Added and removed tools are counted along the conversation, as the model sees them come and go. */
function* toolChangeProblems(request: ParsedRequest): Generator<Problem> {
  const defined = new Set(request.tools.map(toolName));
  const active = new Set(request.tools.filter((tool) => tool["defer_loading"] !== true).map(toolName));
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_addition" && block.type !== "tool_removal") continue;
      const change = changeOf(block);
      const place = placeOf({ message: number, block: index });
      yield* changeProblems({ request, block, place });
      if (block.type === "tool_removal") {
        if (!active.has(change.name)) yield invalid(place, "there is no such tool to remove");
        active.delete(change.name);
        continue;
      }
      if (change.definition === null && !defined.has(change.name))
        yield invalid(place, "no tool has this name");
      if (active.has(change.name)) yield invalid(place, "this tool is there already");
      active.add(change.name);
      defined.add(change.name);
    }
  }
}

type Change = { readonly name: string | null; readonly definition: JsonObject | null };

export function changeOf(block: Block): Change {
  const tool = block["tool"];
  if (!isObject(tool)) return { name: null, definition: null };
  if (tool["type"] !== "tool_definition") return { name: toolName(tool), definition: null };
  const definition = isObject(tool["definition"]) ? tool["definition"] : {};
  return { name: toolName(definition), definition };
}

type ChangeQuestion = { readonly request: ParsedRequest; readonly block: Block; readonly place: string };

function* changeProblems({ request, block, place }: ChangeQuestion): Generator<Problem> {
  const { name, definition } = changeOf(block);
  const beta = definition === null ? betaFor.toolChanges : betaFor.inlineTools;
  if (!request.betas.has(beta)) yield invalid(place, `needs the beta ${beta}`);
  if (name === null) yield invalid(`${place}.tool`, "expected a reference or a definition with a name");
  if (definition === null) return;
  if (block.type === "tool_removal") yield invalid(`${place}.tool`, "a tool is removed by reference");
  yield* definitionProblems(definition, `${place}.tool.definition`);
}
