import { byCodeUnit, withoutSilentFields } from "./bound-text.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import { type ContentBlock, contentBlocks, isThinking, type ParsedRequest } from "./parsed-request.ts";
import { markTtl } from "./rules/cache-rules.ts";

/** One position of the rendered prompt: a tool, a block of the system prompt, or a block of a message. */
export type PromptPosition = {
  readonly part: "tools" | "system" | "messages";
  readonly type: string;
  /** The text the model gets. The cache compares it, so it is stricter than the binding. */
  readonly text: string;
  readonly mark: "5m" | "1h" | null;
  readonly mayBeMarked: boolean;
};

export function promptPositions(
  request: ParsedRequest,
  dropped: ReadonlySet<ContentBlock>,
): readonly PromptPosition[] {
  const tools = request.tools
    .filter((tool) => tool["defer_loading"] !== true)
    .map((tool) => positionOf("tools", { ...tool, type: "tool" }));
  const system = request.system.map((block) => positionOf("system", block));
  const positions = [...tools, ...system, ...messagePositions(request, dropped)];
  return withAutomaticMark(request, positions);
}

function messagePositions(
  request: ParsedRequest,
  dropped: ReadonlySet<ContentBlock>,
): readonly PromptPosition[] {
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  return request.messages.flatMap((message, number) => {
    const isSelfClearing = message.asSent["clear_at"] === "next_user_message";
    // The model does not get it any more after the next user message.
    if (isSelfClearing && number < lastUser) return [];
    const { role, content } = message;
    const output = message.asSent["output_config"];
    const effort = isObject(output) ? [plainPosition("effort", JSON.stringify(output))] : [];
    const kept = content.filter((block) => !dropped.has(block));
    const positions = kept.map((block) => positionOf("messages", block, role));
    return [
      ...effort,
      ...(isSelfClearing ? positions.map((position) => ({ ...position, mayBeMarked: false })) : positions),
    ];
  });
}

function positionOf(part: PromptPosition["part"], block: ContentBlock, role = ""): PromptPosition {
  return {
    part,
    type: block.type,
    text: `${role}\n${renderedText(block)}`,
    mark: markOf(block),
    mayBeMarked: !isThinking(block),
  };
}

function plainPosition(type: string, text: string): PromptPosition {
  return { part: "messages", type, text, mark: null, mayBeMarked: false };
}

function renderedText(block: ContentBlock): string {
  if (block.type !== "tool_result") return inKeyOrder(block);
  const content = contentBlocks(block["content"]).map(inKeyOrder).join("");
  return inKeyOrder({ ...block, content });
}

/** The order of a block's own fields is not rendered; the order inside an input or a schema is. */
function inKeyOrder(record: JsonObject): string {
  const plain = withoutSilentFields(record);
  let text = "";
  for (const key of Object.keys(plain).sort(byCodeUnit)) {
    const value = plain[key];
    text += `${key}=${typeof value === "string" ? value : JSON.stringify(value)}\n`;
  }
  return text;
}

/** A mark inside a tool result counts for the result. */
function markOf(block: ContentBlock): "5m" | "1h" | null {
  const inner = block.type === "tool_result" ? contentBlocks(block["content"]) : [];
  const control = [block, ...inner].map((each) => each["cache_control"]).find(isObject);
  if (control === undefined) return null;
  return markTtl(control) === "1h" ? "1h" : "5m";
}

function withAutomaticMark(
  request: ParsedRequest,
  positions: readonly PromptPosition[],
): readonly PromptPosition[] {
  const control = request.body["cache_control"];
  if (!isObject(control)) return positions;
  const at = positions.findLastIndex(({ mayBeMarked }) => mayBeMarked);
  const mark = markTtl(control) === "1h" ? "1h" : "5m";
  return positions.map((position, index) =>
    index === at ? { ...position, mark: position.mark ?? mark } : position,
  );
}
