import type { Json } from "../base/index.ts";
import type { WireBlock } from "./provider.ts";

/*
 * Text of people, tools and models becomes part of every later prompt. One block that a provider does not
 * accept would make it refuse all of them, so such a block is never recorded.
 */

/** A block as bytes. Half a surrogate pair, which no provider accepts, becomes the replacement character. */
export function wireBytes(block: WireBlock): Buffer {
  const wellFormed = (_: string, value: unknown): unknown =>
    typeof value === "string" ? Buffer.from(value, "utf8").toString("utf8") : value;
  return Buffer.from(JSON.stringify(block, wellFormed));
}

export function isNotBlank(block: WireBlock): boolean {
  return block.type !== "text" || String(block["text"] ?? "").trim() !== "";
}

/** The text of an error. Any value may be thrown, and providers refuse an error result without text. */
export function problemText(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message : error);
    return text.trim() === "" ? "It failed without saying why." : text;
  } catch {
    return "It failed, and what it says of that cannot be read.";
  }
}

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

export function isReasoningType(type: string): boolean {
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
