import type { Json } from "../base/index.ts";
import { isObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import { type Block, blocksOf, isThinking, type ParsedRequest, placeOf } from "./request.ts";

type Mark = { readonly place: string; readonly control: Json; readonly refusal: string | null };

export const marksMax = 4;

export function* cacheMarkProblems(request: ParsedRequest): Generator<Problem> {
  const marks = [...marksOf(request)];
  for (const { place, control, refusal } of marks) {
    const path = `${place}cache_control`;
    if (!isObject(control) || control["type"] !== "ephemeral")
      yield invalid(path, "expected the type ephemeral");
    else if (!["5m", "1h"].includes(ttlOf(control))) yield invalid(`${path}.ttl`, "expected 5m or 1h");
    if (refusal !== null) yield invalid(path, refusal);
  }
  if (marks.length > marksMax) {
    yield invalid("cache_control", `at most ${marksMax} marks are allowed, found ${marks.length}`);
  }
  const ttls = marks.map(({ control }) => ttlOf(control));
  const late = ttls.lastIndexOf("1h");
  if (ttls.indexOf("5m") !== -1 && ttls.indexOf("5m") < late) {
    yield invalid(`${marks[late]?.place}cache_control.ttl`, "a mark of 1h must not come after a mark of 5m");
  }
}

export function ttlOf(control: Json | undefined): string {
  return isObject(control) ? String(control["ttl"] ?? "5m") : "5m";
}

/** In the order in which the prompt is rendered: tools, system, messages. */
function* marksOf(request: ParsedRequest): Generator<Mark> {
  for (const [index, tool] of request.tools.entries()) {
    const refusal = tool["defer_loading"] === true ? "a deferred tool cannot be marked" : null;
    yield* markOf({ value: tool["cache_control"], place: `tools.${index}.`, refusal });
  }
  for (const [index, block] of request.system.entries()) {
    yield* markOf({ value: block["cache_control"], place: `system.${index}.`, refusal: null });
  }
  for (const [number, message] of request.messages.entries()) {
    const clears = (message.asSent["clear_at"] ?? "never") !== "never";
    for (const [index, block] of message.content.entries()) {
      yield* blockMarks({ block, place: placeOf({ message: number, block: index }), clears });
    }
  }
  yield* markOf({ value: request.body["cache_control"], place: "", refusal: null });
}

type BlockQuestion = { readonly block: Block; readonly place: string; readonly clears: boolean };

function* blockMarks({ block, place, clears }: BlockQuestion): Generator<Mark> {
  // Nested marks stand before the one of the block around them.
  if (block.type === "tool_result") {
    for (const [index, part] of blocksOf(block["content"]).entries()) {
      yield* markOf({ value: part["cache_control"], place: `${place}.content.${index}.`, refusal: null });
    }
  }
  let refusal: string | null = null;
  if (isThinking(block)) refusal = "a thinking block cannot be marked";
  else if (clears) refusal = "a message with clear_at cannot be marked";
  yield* markOf({ value: block["cache_control"], place: `${place}.`, refusal });
}

type MarkQuestion = {
  readonly value: Json | undefined;
  readonly place: string;
  readonly refusal: string | null;
};

function* markOf({ value, place, refusal }: MarkQuestion): Generator<Mark> {
  const control = value ?? null;
  if (control !== null) yield { place, control, refusal };
}
