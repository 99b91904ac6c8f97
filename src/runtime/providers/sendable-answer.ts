import type { Json } from "../../base/index.ts";
import type { WireBlock } from "../provider.ts";
import { isNotBlank } from "../sendable.ts";

/** An answer as it can be sent back. `isUsed` tells whether an earlier call has that id. */
export function sendableAnswer(
  content: readonly WireBlock[],
  { isUsed, newId }: { readonly isUsed: (id: string) => boolean; readonly newId: (at: number) => string },
): readonly WireBlock[] {
  const ids = new Set<string>();
  const blocks = content.filter(isNotBlank).map((block, at) => {
    if (block.type === "text") return { ...block, text: String(block["text"]) };
    if (block.type !== "tool_use") return block;
    const id = String(block["id"] ?? "");
    const isFree = /^[\w-]+$/.test(id) && !ids.has(id) && !isUsed(id);
    const call = { ...block, id: isFree ? id : newId(at), name: callName(block), input: callInput(block) };
    ids.add(call.id);
    return call;
  });
  // Providers refuse an answer that ends with reasoning.
  return blocks.slice(0, blocks.findLastIndex(({ type }) => !isReasoningType(type)) + 1);
}

function isReasoningType(type: string): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function callName({ name = "" }: WireBlock): string {
  return (
    String(name)
      .replace(/[^\w-]/g, "_")
      .slice(0, 64) || "unnamed"
  );
}

function callInput({ input = null }: WireBlock): Json {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}
