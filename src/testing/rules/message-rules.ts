import {
  blockPath,
  type ContentBlock,
  contentBlocks,
  isEffortOnly,
  type ParsedRequest,
  speakerTurns,
  textOfBlock,
} from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

/** Checks the roles of the first and last message, and that no message is empty. */
export function* messageOrderProblems(request: ParsedRequest): Generator<RequestProblem> {
  const { messages } = request;
  if (messages.length === 0) {
    yield invalid("messages", "at least one message is required");
    return;
  }
  yield* emptyProblems(request);
  const turns = speakerTurns(messages);
  const first = turns[0];
  const opening = first?.blocks[0]?.block.type;
  if (first === undefined) yield invalid("messages", "at least one message must say something");
  else if (first.role !== "user" && !(first.role === "assistant" && opening === "compaction")) {
    yield invalid(`messages.${first.first}`, "the first message must have the role user");
  }
  const last = turns.at(-1);
  if (last === undefined || last.role !== "assistant" || request.rules.mayPrefill) return;
  const ending = last.blocks.at(-1)?.block.type ?? "";
  // A turn that the provider paused is sent back unchanged.
  if (!isServerBlock(ending)) {
    yield invalid(`messages.${messages.length - 1}`, "this model does not continue an assistant message");
  }
}

export function isServerBlock(type: string): boolean {
  return type === "server_tool_use" || (type.endsWith("_tool_result") && type !== "tool_result");
}

function* emptyProblems({ messages }: ParsedRequest): Generator<RequestProblem> {
  for (const [number, message] of messages.entries()) {
    if (message.content.length > 0 || isEffortOnly(message)) continue;
    if (message.role === "assistant" && number === messages.length - 1) continue;
    yield invalid(`messages.${number}`, "a message must not be empty, except a final one of the assistant");
  }
}

export function* blankTextProblems(request: ParsedRequest): Generator<RequestProblem> {
  for (const [index, block] of request.system.entries()) {
    if (Array.isArray(request.body["system"])) yield* blankProblem(block, `system.${index}`);
  }
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      const path = blockPath({ message: number, block: index });
      yield* blankProblem(block, path);
      if (block.type !== "tool_result" || typeof block["content"] === "string") continue;
      for (const [inner, part] of contentBlocks(block["content"]).entries()) {
        yield* blankProblem(part, `${path}.content.${inner}`);
      }
    }
  }
}

function* blankProblem(block: ContentBlock, path: string): Generator<RequestProblem> {
  if (block.type === "text" && textOfBlock(block).trim() === "") {
    yield invalid(path, "a text block must not be blank");
  }
}

const retiredFields = ["temperature", "top_p", "top_k"];

/** Checks for everything that the version of late 2026 removed. */
export function* versionProblems(request: ParsedRequest): Generator<RequestProblem> {
  if (request.version !== "2026-10-21") return;
  const retired = retiredFields.find((name) => (request.body[name] ?? null) !== null);
  if (retired !== undefined) yield invalid(retired, "this version of the interface has no such field");
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      const path = blockPath({ message: number, block: index });
      if (message.role === "assistant" && block.type === "document") {
        yield invalid(path, "this version has no documents in assistant messages");
      }
      if (message.role === "user" && block.type === "text" && (block["citations"] ?? null) !== null) {
        yield invalid(`${path}.citations`, "this version has no citations in user text");
      }
    }
  }
}
