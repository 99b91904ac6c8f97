import type { Json } from "../base/index.ts";
import type { WireBlock } from "./provider.ts";

/*
 * What people, tools and models say becomes part of every later prompt. One block that a provider does not
 * take would make it refuse them all, so nothing of that sort is written down.
 */

/** A block as bytes. Half a character, which no provider takes, becomes the sign for one that is missing. */
export function wireBytes(block: WireBlock): Buffer {
  const whole = (_: string, value: unknown): unknown =>
    typeof value === "string" ? Buffer.from(value, "utf8").toString("utf8") : value;
  return Buffer.from(JSON.stringify(block, whole));
}

export function saysSomething(block: WireBlock): boolean {
  return block.type !== "text" || String(block["text"] ?? "").trim() !== "";
}

/** What is said of a failure. Anything may be thrown, and an error that says nothing is refused. */
export function problemText(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message : error);
    return text.trim() === "" ? "It failed without saying why." : text;
  } catch {
    return "It failed, and what it says of that cannot be read.";
  }
}

/** An answer as it can be sent back. `isUsed`: whether an earlier call has that id. */
export function takeableAnswer(
  content: readonly WireBlock[],
  { isUsed, newId }: { readonly isUsed: (id: string) => boolean; readonly newId: (at: number) => string },
): readonly WireBlock[] {
  const ids = new Set<string>();
  const said = content.filter(saysSomething).map((block, at) => {
    if (block.type === "text") return { ...block, text: String(block["text"]) };
    if (block.type !== "tool_use") return block;
    const id = String(block["id"] ?? "");
    const isFree = /^[\w-]+$/.test(id) && !ids.has(id) && !isUsed(id);
    const call = { ...block, id: isFree ? id : newId(at), name: callName(block), input: callInput(block) };
    ids.add(call.id);
    return call;
  });
  return said.slice(0, said.findLastIndex(({ type }) => !isReasoning(type)) + 1);
}

/** Reasoning that led to nothing is not taken at the end of an answer. */
export function isReasoning(type: string): boolean {
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
