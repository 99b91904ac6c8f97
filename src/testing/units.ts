import { bare, byCodeUnit } from "./bound-text.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import { type Block, blocksOf, isThinking, type ParsedRequest } from "./request.ts";
import { ttlOf } from "./rules-cache.ts";

/** One position of the rendered prompt: a tool, a block of the system prompt, or a block of a message. */
export type PromptUnit = {
  readonly part: "tools" | "system" | "messages";
  readonly type: string;
  /** As the model gets to read it. A cache compares this, so it forgives less than the binding does. */
  readonly text: string;
  readonly mark: "5m" | "1h" | null;
  readonly mayBeMarked: boolean;
};

export function unitsOf(request: ParsedRequest, dropped: ReadonlySet<Block>): readonly PromptUnit[] {
  const tools = request.tools
    .filter((tool) => tool["defer_loading"] !== true)
    .map((tool) => unitOf("tools", { ...tool, type: "tool" }));
  const system = request.system.map((block) => unitOf("system", block));
  const units = [...tools, ...system, ...messageUnits(request, dropped)];
  return withAutomaticMark(request, units);
}

function messageUnits(request: ParsedRequest, dropped: ReadonlySet<Block>): readonly PromptUnit[] {
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  return request.messages.flatMap((message, number) => {
    const clears = message.asSent["clear_at"] === "next_user_message";
    // Once the user has spoken again nobody reads it any more.
    if (clears && number < lastUser) return [];
    const { role, content } = message;
    const output = message.asSent["output_config"];
    const effort = isObject(output) ? [plainUnit("effort", JSON.stringify(output))] : [];
    const kept = content.filter((block) => !dropped.has(block));
    const units = kept.map((block) => unitOf("messages", block, role));
    return [...effort, ...(clears ? units.map((unit) => ({ ...unit, mayBeMarked: false })) : units)];
  });
}

function unitOf(part: PromptUnit["part"], block: Block, role = ""): PromptUnit {
  return {
    part,
    type: block.type,
    text: `${role}\n${renderedText(block)}`,
    mark: markOf(block),
    mayBeMarked: !isThinking(block),
  };
}

function plainUnit(type: string, text: string): PromptUnit {
  return { part: "messages", type, text, mark: null, mayBeMarked: false };
}

function renderedText(block: Block): string {
  if (block.type !== "tool_result") return inKeyOrder(block);
  const content = blocksOf(block["content"]).map(inKeyOrder).join("");
  return inKeyOrder({ ...block, content });
}

/** The order of a block's own fields is not rendered; the order inside an input or a schema is. */
function inKeyOrder(record: JsonObject): string {
  const plain = bare(record);
  let text = "";
  for (const key of Object.keys(plain).sort(byCodeUnit)) {
    const value = plain[key];
    text += `${key}=${typeof value === "string" ? value : JSON.stringify(value)}\n`;
  }
  return text;
}

/** A mark inside a tool result counts for the result. */
function markOf(block: Block): "5m" | "1h" | null {
  const inner = block.type === "tool_result" ? blocksOf(block["content"]) : [];
  const control = [block, ...inner].map((each) => each["cache_control"]).find(isObject);
  if (control === undefined) return null;
  return ttlOf(control) === "1h" ? "1h" : "5m";
}

function withAutomaticMark(request: ParsedRequest, units: readonly PromptUnit[]): readonly PromptUnit[] {
  const control = request.body["cache_control"];
  if (!isObject(control)) return units;
  const at = units.findLastIndex(({ mayBeMarked }) => mayBeMarked);
  const mark = ttlOf(control) === "1h" ? "1h" : "5m";
  return units.map((unit, index) => (index === at ? { ...unit, mark: unit.mark ?? mark } : unit));
}
