import { invalid, type Problem } from "./problem.ts";
import {
  type Block,
  blocksOf,
  isEffortOnly,
  type ParsedRequest,
  placeOf,
  textOf,
  turnsOf,
} from "./request.ts";

/** Who speaks first and last, and that everybody says something. */
export function* messageOrderProblems(request: ParsedRequest): Generator<Problem> {
  const { messages } = request;
  if (messages.length === 0) {
    yield invalid("messages", "at least one message is required");
    return;
  }
  yield* emptyProblems(request);
  const turns = turnsOf(messages);
  const first = turns[0];
  const opening = first?.blocks[0]?.block.type;
  if (first === undefined) yield invalid("messages", "at least one message must say something");
  else if (first.role !== "user" && !(first.role === "assistant" && opening === "compaction")) {
    yield invalid(`messages.${first.first}`, "the first message must have the role user");
  }
  const last = turns.at(-1);
  if (last === undefined || last.role !== "assistant" || request.rules.prefill) return;
  const ending = last.blocks.at(-1)?.block.type ?? "";
  // A turn that the provider paused is sent back as it is.
  if (!isServerBlock(ending)) {
    yield invalid(`messages.${messages.length - 1}`, "this model does not continue an assistant message");
  }
}

export function isServerBlock(type: string): boolean {
  return type === "server_tool_use" || (type.endsWith("_tool_result") && type !== "tool_result");
}

function* emptyProblems({ messages }: ParsedRequest): Generator<Problem> {
  for (const [number, message] of messages.entries()) {
    if (message.content.length > 0 || isEffortOnly(message)) continue;
    if (message.role === "assistant" && number === messages.length - 1) continue;
    yield invalid(`messages.${number}`, "a message must not be empty, except a final one of the assistant");
  }
}

export function* blankTextProblems(request: ParsedRequest): Generator<Problem> {
  for (const [index, block] of request.system.entries()) {
    if (Array.isArray(request.body["system"])) yield* blankProblem(block, `system.${index}`);
  }
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      const place = placeOf({ message: number, block: index });
      yield* blankProblem(block, place);
      if (block.type !== "tool_result" || typeof block["content"] === "string") continue;
      for (const [inner, part] of blocksOf(block["content"]).entries()) {
        yield* blankProblem(part, `${place}.content.${inner}`);
      }
    }
  }
}

function* blankProblem(block: Block, place: string): Generator<Problem> {
  if (block.type === "text" && textOf(block).trim() === "") {
    yield invalid(place, "a text block must not be blank");
  }
}

const retired = ["temperature", "top_p", "top_k"];

/** What the version of late 2026 took away. */
export function* versionProblems(request: ParsedRequest): Generator<Problem> {
  if (request.version !== "2026-10-21") return;
  const gone = retired.find((name) => (request.body[name] ?? null) !== null);
  if (gone !== undefined) yield invalid(gone, "this version of the interface has no such field");
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      const place = placeOf({ message: number, block: index });
      if (message.role === "assistant" && block.type === "document") {
        yield invalid(place, "this version has no documents in assistant messages");
      }
      if (message.role === "user" && block.type === "text" && (block["citations"] ?? null) !== null) {
        yield invalid(`${place}.citations`, "this version has no citations in user text");
      }
    }
  }
}
