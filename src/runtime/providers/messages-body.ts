import type { Json } from "../../base/index.ts";
import type { ModelRequest, WireBlock } from "../provider.ts";

export type JsonFields = Readonly<Record<string, Json>>;

/** A prompt as a body of the Messages interface, without the model: some name it elsewhere. */
export function messagesBody(request: ModelRequest): JsonFields {
  const { system, messages, tools, toolChoice, maxTokens, stopSequences } = request;
  return {
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system: system.map((block, at) => inSystem(request, block, at)) }),
    messages: messages.map(({ role, content }, message) => ({
      role,
      content: content.map((block, at) =>
        isMarked(request, { message, block: at }) ? marked(block) : block,
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

export type BlockPlace = { readonly message: number; readonly block: number };

/** A mark is for the bill alone: one that its block cannot bear is left out, and the prompt is answered. */
export function isMarked({ marks, messages }: ModelRequest, { message, block }: BlockPlace): boolean {
  const type = messages[message]?.content[block]?.type;
  return (
    type !== "thinking" &&
    type !== "redacted_thinking" &&
    marks.some((mark) => mark.in === "message" && mark.message === message && mark.block === block)
  );
}

function inSystem(request: ModelRequest, block: WireBlock, at: number): WireBlock {
  return at === request.system.length - 1 && isSystemMarked(request) ? marked(block) : block;
}

function marked(block: WireBlock): WireBlock {
  return { ...block, cache_control: { type: "ephemeral" } };
}
