import type { Json } from "../../base/index.ts";
import type { ModelRequest, WireBlock } from "../provider.ts";

export type ExtraFields = Readonly<Record<string, Json>>;

/** A prompt as a body of the Messages API, without the model, which Bedrock names in the URL. */
export function messagesBody(request: ModelRequest): ExtraFields {
  const { system, messages, tools, toolChoice, maxTokens, stopSequences } = request;
  return {
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system: system.map((block, at) => systemBlock(request, block, at)) }),
    messages: messages.map(({ role, content }, message) => ({
      role,
      content: content.map((block, at) =>
        isMarked(request, { message, block: at }) ? withMark(block) : block,
      ),
    })),
    ...(tools.length === 0 ? {} : { tools: [...tools] }),
    ...(tools.length > 0 && toolChoice === "none" ? { tool_choice: { type: "none" } } : {}),
    ...(stopSequences.length === 0 ? {} : { stop_sequences: [...stopSequences] }),
  };
}

export function isSystemMarked({ marks }: ModelRequest): boolean {
  return marks.some((mark) => mark.in === "system");
}

export type BlockPosition = { readonly message: number; readonly block: number };

/**
 * A mark only lowers the price: if a block cannot have one, it is left out, so that the prompt is answered.
 */
export function isMarked({ marks, messages }: ModelRequest, { message, block }: BlockPosition): boolean {
  const type = messages[message]?.content[block]?.type;
  return (
    type !== "thinking" &&
    type !== "redacted_thinking" &&
    marks.some((mark) => mark.in === "message" && mark.message === message && mark.block === block)
  );
}

function systemBlock(request: ModelRequest, block: WireBlock, at: number): WireBlock {
  return at === request.system.length - 1 && isSystemMarked(request) ? withMark(block) : block;
}

function withMark(block: WireBlock): WireBlock {
  return { ...block, cache_control: { type: "ephemeral" } };
}
