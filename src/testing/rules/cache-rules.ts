import type { Json } from "../../base/index.ts";
import { isObject } from "../json-text.ts";
import {
  blockPath,
  type ContentBlock,
  contentBlocks,
  isThinking,
  type ParsedRequest,
} from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

type RequestMark = { readonly path: string; readonly control: Json; readonly refusal: string | null };

export const marksMax = 4;

export function* cacheMarkProblems(request: ParsedRequest): Generator<RequestProblem> {
  const marks = [...marksOf(request)];
  for (const { path, control, refusal } of marks) {
    const markPath = `${path}cache_control`;
    if (!isObject(control) || control["type"] !== "ephemeral")
      yield invalid(markPath, "expected the type ephemeral");
    else if (!["5m", "1h"].includes(markTtl(control))) yield invalid(`${markPath}.ttl`, "expected 5m or 1h");
    if (refusal !== null) yield invalid(markPath, refusal);
  }
  if (marks.length > marksMax) {
    yield invalid("cache_control", `at most ${marksMax} marks are allowed, found ${marks.length}`);
  }
  const ttls = marks.map(({ control }) => markTtl(control));
  const late = ttls.lastIndexOf("1h");
  if (ttls.indexOf("5m") !== -1 && ttls.indexOf("5m") < late) {
    yield invalid(`${marks[late]?.path}cache_control.ttl`, "a mark of 1h must not come after a mark of 5m");
  }
}

export function markTtl(control: Json | undefined): string {
  return isObject(control) ? String(control["ttl"] ?? "5m") : "5m";
}

/** All marks in the order of the rendered prompt: tools, system, messages. */
function* marksOf(request: ParsedRequest): Generator<RequestMark> {
  for (const [index, tool] of request.tools.entries()) {
    const refusal = tool["defer_loading"] === true ? "a deferred tool cannot be marked" : null;
    yield* markOf({ value: tool["cache_control"], path: `tools.${index}.`, refusal });
  }
  for (const [index, block] of request.system.entries()) {
    yield* markOf({ value: block["cache_control"], path: `system.${index}.`, refusal: null });
  }
  for (const [number, message] of request.messages.entries()) {
    const isSelfClearing = (message.asSent["clear_at"] ?? "never") !== "never";
    for (const [index, block] of message.content.entries()) {
      yield* blockMarks({ block, path: blockPath({ message: number, block: index }), isSelfClearing });
    }
  }
  yield* markOf({ value: request.body["cache_control"], path: "", refusal: null });
}

type BlockMarksInput = {
  readonly block: ContentBlock;
  readonly path: string;
  readonly isSelfClearing: boolean;
};

function* blockMarks({ block, path, isSelfClearing }: BlockMarksInput): Generator<RequestMark> {
  // Nested marks come before the mark of the block around them.
  if (block.type === "tool_result") {
    for (const [index, part] of contentBlocks(block["content"]).entries()) {
      yield* markOf({ value: part["cache_control"], path: `${path}.content.${index}.`, refusal: null });
    }
  }
  let refusal: string | null = null;
  if (isThinking(block)) refusal = "a thinking block cannot be marked";
  else if (isSelfClearing) refusal = "a message with clear_at cannot be marked";
  yield* markOf({ value: block["cache_control"], path: `${path}.`, refusal });
}

type MarkInput = {
  readonly value: Json | undefined;
  readonly path: string;
  readonly refusal: string | null;
};

function* markOf({ value, path, refusal }: MarkInput): Generator<RequestMark> {
  const control = value ?? null;
  if (control !== null) yield { path, control, refusal };
}
