import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";
import { type Block, isThinking, type ParsedMessage, type ParsedRequest } from "./request.ts";

/** What a model gets to read once the edits of a request were applied, and what is said of them. */
export type Edited = {
  readonly messages: readonly ParsedMessage[];
  /** Reasoning that was cleared. */
  readonly dropped: ReadonlySet<Block>;
  /** Lines of `applied_edits`, without how many tokens each has cleared. */
  readonly applied: readonly AppliedEdit[];
};
export type AppliedEdit = { readonly type: string; readonly [count: string]: string | number };

export const clearToolUses = "clear_tool_uses_20250919";
export const clearThinking = "clear_thinking_20251015";
/** Nobody promises these words; whoever counts on them counts on nothing. */
const clearedWords = "[Old tool result content cleared]";

const triggerTokens = 100_000;
const keptUses = 3;

export function editsOf({ body }: Pick<ParsedRequest, "body">): readonly JsonObject[] {
  const management = body["context_management"] ?? null;
  const edits = isObject(management) ? management["edits"] : null;
  return isList(edits) ? edits.filter(isObject) : [];
}

/** Applies the edits of a request. Its bindings are checked before, on what was sent. */
export function applyEdits(request: ParsedRequest, tokens: (messages: Edited["messages"]) => number): Edited {
  let edited: Edited = { messages: request.messages, dropped: new Set(), applied: [] };
  for (const edit of editsOf(request)) {
    if (edit["type"] === clearThinking) edited = withoutThinking(edited, edit);
    if (edit["type"] === clearToolUses) edited = withoutResults(edited, edit, tokens);
  }
  return edited;
}

function withoutThinking(edited: Edited, edit: JsonObject): Edited {
  const { messages, applied } = edited;
  const keep = numberIn(edit["keep"]);
  if (keep === null) return edited;
  const thoughtful = messages.filter(({ content }) => content.some(isThinking));
  const old = thoughtful.slice(0, Math.max(0, thoughtful.length - keep));
  const dropped = new Set(old.flatMap(({ content }) => content.filter(isThinking)));
  if (old.length === 0) return edited;
  return {
    messages,
    dropped,
    applied: [...applied, { type: clearThinking, cleared_thinking_turns: old.length }],
  };
}

function withoutResults(
  edited: Edited,
  edit: JsonObject,
  tokens: (messages: Edited["messages"]) => number,
): Edited {
  const [cleared = new Set<string>()] = clearedUses(edited.messages, edit, tokens);
  if (cleared.size === 0) return edited;
  const messages = edited.messages.map((message) => ({
    ...message,
    content: message.content.map((block) => withoutWords(block, cleared, edit["clear_tool_inputs"] === true)),
  }));
  const least = numberIn(edit["clear_at_least"]);
  if (least !== null && tokens(edited.messages) - tokens(messages) < least) return edited;
  const line = { type: clearToolUses, cleared_tool_uses: cleared.size };
  return { ...edited, messages, applied: [...edited.applied, line] };
}

function withoutWords(block: Block, cleared: ReadonlySet<string>, hasInputs: boolean): Block {
  if (block.type === "tool_result" && cleared.has(String(block["tool_use_id"])))
    return { ...block, content: clearedWords };
  const isCall = block.type === "tool_use" && cleared.has(String(block["id"]));
  return isCall && hasInputs ? { ...block, input: {} } : block;
}

/**
 * The uses that an edit clears, once for each way in which its documentation can be read: whether uses of
 * excluded tools count among those that are kept.
 */
export function clearedUses(
  messages: readonly ParsedMessage[],
  edit: JsonObject,
  tokens: (messages: readonly ParsedMessage[]) => number,
): readonly ReadonlySet<string>[] {
  const uses = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use"));
  const excluded = isList(edit["exclude_tools"]) ? edit["exclude_tools"] : [];
  const mayGo = (use: Block): boolean => !excluded.includes(use["name"] ?? null);
  const trigger = isObject(edit["trigger"])
    ? edit["trigger"]
    : { type: "input_tokens", value: triggerTokens };
  const keep = numberIn(edit["keep"]) ?? keptUses;
  return [uses, uses.filter(mayGo)].map((counted) => {
    const reached = trigger["type"] === "tool_uses" ? counted.length : tokens(messages);
    if (reached <= Number(trigger["value"])) return new Set();
    const old = counted.slice(0, Math.max(0, counted.length - keep)).filter(mayGo);
    return new Set(old.map((use) => String(use["id"])));
  });
}

function numberIn(value: Json | undefined): number | null {
  const number = isObject(value) ? value["value"] : null;
  return typeof number === "number" ? number : null;
}
