import { betaFor } from "../betas.ts";
import { isObject, type JsonObject } from "../json-text.ts";
import {
  blockPath,
  type ContentBlock,
  isEffortOnly,
  type ParsedMessage,
  type ParsedRequest,
} from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";
import { isServerBlock } from "./message-rules.ts";
import { definitionProblems, toolName } from "./tool-rules.ts";

const efforts = ["low", "medium", "high", "xhigh", "max"];

/** Checks the position and the content of system messages inside the conversation. */
export function* midSystemProblems(request: ParsedRequest): Generator<RequestProblem> {
  // Effort-only messages are invisible to the rules about neighbours.
  const visible = [...request.messages.entries()].filter(([, message]) => !isEffortOnly(message));
  for (const [at, [number, message]] of visible.entries()) {
    if (message.role !== "system") continue;
    const path = `messages.${number}`;
    if (!request.rules.hasMidSystem) yield invalid(`${path}.role`, "this model has no system messages");
    if (!mayFollow(visible[at - 1]?.[1])) {
      yield invalid(path, "a system message follows a user message or a result of a server tool");
    }
    const next = visible[at + 1]?.[1];
    if (next !== undefined && next.role !== "assistant") {
      yield invalid(path, "a system message is the last one or is followed by the assistant");
    }
  }
  for (const [number, message] of request.messages.entries()) {
    if (message.role === "system")
      yield* systemFieldProblems({ request, message, path: `messages.${number}` });
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

type SystemMessageInput = {
  readonly request: ParsedRequest;
  readonly message: ParsedMessage;
  readonly path: string;
};

function* systemFieldProblems({ request, message, path }: SystemMessageInput): Generator<RequestProblem> {
  const output = message.asSent["output_config"] ?? null;
  const effort = isObject(output) ? (output["effort"] ?? null) : null;
  if (output !== null && !isObject(output)) yield invalid(`${path}.output_config`, "expected an object");
  if (effort !== null && !efforts.includes(String(effort))) {
    yield invalid(`${path}.output_config.effort`, `expected one of ${efforts.join(", ")}`);
  }
  if (isEffortOnly(message) && effort === null) yield invalid(path, "a message must not be empty");
  const clearAt = message.asSent["clear_at"] ?? null;
  if (clearAt === null) return;
  if (!request.betas.has(betaFor.clearAt))
    yield invalid(`${path}.clear_at`, `needs the beta ${betaFor.clearAt}`);
  if (clearAt !== "next_user_message" && clearAt !== "never") {
    yield invalid(`${path}.clear_at`, "expected next_user_message or never");
  }
  if (clearAt === "next_user_message" && message.content.some(({ type }) => type !== "text")) {
    yield invalid(`${path}.content`, "a message with clear_at holds text only");
  }
}

/** Follows added and removed tools through the conversation, as the model sees them. */
function* toolChangeProblems(request: ParsedRequest): Generator<RequestProblem> {
  const defined = new Set(request.tools.map(toolName));
  const active = new Set(request.tools.filter((tool) => tool["defer_loading"] !== true).map(toolName));
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_addition" && block.type !== "tool_removal") continue;
      const change = toolChangeOf(block);
      const path = blockPath({ message: number, block: index });
      yield* changeProblems({ request, block, path });
      if (block.type === "tool_removal") {
        if (!active.has(change.name)) yield invalid(path, "there is no such tool to remove");
        active.delete(change.name);
        continue;
      }
      if (change.definition === null && !defined.has(change.name))
        yield invalid(path, "no tool has this name");
      if (active.has(change.name)) yield invalid(path, "this tool is there already");
      active.add(change.name);
      defined.add(change.name);
    }
  }
}

type ToolChange = { readonly name: string | null; readonly definition: JsonObject | null };

export function toolChangeOf(block: ContentBlock): ToolChange {
  const tool = block["tool"];
  if (!isObject(tool)) return { name: null, definition: null };
  if (tool["type"] !== "tool_definition") return { name: toolName(tool), definition: null };
  const definition = isObject(tool["definition"]) ? tool["definition"] : {};
  return { name: toolName(definition), definition };
}

type ToolChangeInput = {
  readonly request: ParsedRequest;
  readonly block: ContentBlock;
  readonly path: string;
};

function* changeProblems({ request, block, path }: ToolChangeInput): Generator<RequestProblem> {
  const { name, definition } = toolChangeOf(block);
  const beta = definition === null ? betaFor.toolChanges : betaFor.inlineTools;
  if (!request.betas.has(beta)) yield invalid(path, `needs the beta ${beta}`);
  if (name === null) yield invalid(`${path}.tool`, "expected a reference or a definition with a name");
  if (definition === null) return;
  if (block.type === "tool_removal") yield invalid(`${path}.tool`, "a tool is removed by reference");
  yield* definitionProblems(definition, `${path}.tool.definition`);
}
