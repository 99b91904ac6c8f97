import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";
import { type ContentBlock, isThinking, type ParsedMessage, type ParsedRequest } from "./parsed-request.ts";

/** The prompt after the edits of a request, and the report about them. */
export type EditedPrompt = {
  readonly messages: readonly ParsedMessage[];
  /** Reasoning that was cleared. */
  readonly dropped: ReadonlySet<ContentBlock>;
  /** Entries of `applied_edits`, without the number of cleared tokens. */
  readonly applied: readonly AppliedEdit[];
};
export type AppliedEdit = { readonly type: string; readonly [count: string]: string | number };

export const clearToolUses = "clear_tool_uses_20250919";
export const clearThinking = "clear_thinking_20251015";
/** The API does not document this text; tests must not rely on it. */
const clearedText = "[Old tool result content cleared]";

const triggerTokens = 100_000;
const keptUses = 3;

export function contextEditsOf({ body }: Pick<ParsedRequest, "body">): readonly JsonObject[] {
  const management = body["context_management"] ?? null;
  const edits = isObject(management) ? management["edits"] : null;
  return isList(edits) ? edits.filter(isObject) : [];
}

/** Applies the edits of a request. Its bindings are checked before, on the unedited request. */
export function applyEdits(
  request: ParsedRequest,
  tokens: (messages: EditedPrompt["messages"]) => number,
): EditedPrompt {
  let edited: EditedPrompt = { messages: request.messages, dropped: new Set(), applied: [] };
  for (const edit of contextEditsOf(request)) {
    if (edit["type"] === clearThinking) edited = clearThinkingTurns(edited, edit);
    if (edit["type"] === clearToolUses) edited = clearResults(edited, edit, tokens);
  }
  return edited;
}

function clearThinkingTurns(edited: EditedPrompt, edit: JsonObject): EditedPrompt {
  const { messages, applied } = edited;
  const keep = numberIn(edit["keep"]);
  if (keep === null) return edited;
  const withReasoning = messages.filter(({ content }) => content.some(isThinking));
  const old = withReasoning.slice(0, Math.max(0, withReasoning.length - keep));
  const dropped = new Set(old.flatMap(({ content }) => content.filter(isThinking)));
  if (old.length === 0) return edited;
  return {
    messages,
    dropped,
    applied: [...applied, { type: clearThinking, cleared_thinking_turns: old.length }],
  };
}

function clearResults(
  edited: EditedPrompt,
  edit: JsonObject,
  tokens: (messages: EditedPrompt["messages"]) => number,
): EditedPrompt {
  const [cleared = new Set<string>()] = clearedUses(edited.messages, edit, tokens);
  if (cleared.size === 0) return edited;
  const messages = edited.messages.map((message) => ({
    ...message,
    content: message.content.map((block) => clearBlock(block, cleared, edit["clear_tool_inputs"] === true)),
  }));
  const least = numberIn(edit["clear_at_least"]);
  if (least !== null && tokens(edited.messages) - tokens(messages) < least) return edited;
  const entry = { type: clearToolUses, cleared_tool_uses: cleared.size };
  return { ...edited, messages, applied: [...edited.applied, entry] };
}

function clearBlock(
  block: ContentBlock,
  cleared: ReadonlySet<string>,
  mayClearInputs: boolean,
): ContentBlock {
  if (block.type === "tool_result" && cleared.has(String(block["tool_use_id"])))
    return { ...block, content: clearedText };
  const isCall = block.type === "tool_use" && cleared.has(String(block["id"]));
  return isCall && mayClearInputs ? { ...block, input: {} } : block;
}

/**
 * The uses that an edit clears, once for each reading of its documentation: with and without the uses of
 * excluded tools among the kept ones.
 */
export function clearedUses(
  messages: readonly ParsedMessage[],
  edit: JsonObject,
  tokens: (messages: readonly ParsedMessage[]) => number,
): readonly ReadonlySet<string>[] {
  const uses = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use"));
  const excluded = isList(edit["exclude_tools"]) ? edit["exclude_tools"] : [];
  const mayClear = (use: ContentBlock): boolean => !excluded.includes(use["name"] ?? null);
  const trigger = isObject(edit["trigger"])
    ? edit["trigger"]
    : { type: "input_tokens", value: triggerTokens };
  const keep = numberIn(edit["keep"]) ?? keptUses;
  return [uses, uses.filter(mayClear)].map((counted) => {
    const reached = trigger["type"] === "tool_uses" ? counted.length : tokens(messages);
    if (reached <= Number(trigger["value"])) return new Set();
    const old = counted.slice(0, Math.max(0, counted.length - keep)).filter(mayClear);
    return new Set(old.map((use) => String(use["id"])));
  });
}

function numberIn(value: Json | undefined): number | null {
  const number = isObject(value) ? value["value"] : null;
  return typeof number === "number" ? number : null;
}
