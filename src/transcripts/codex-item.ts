import type { WireBlock } from "./recording.ts";
import { type Fields, fieldsOf, listOf, parsed, textOf } from "./values.ts";

/** What the model said, or what it was told. */
export type CodexItem = { readonly side: "client" | "model"; readonly blocks: readonly WireBlock[] };

/**
 * An item of the Responses API as blocks; null: it says nothing to a model. A text stands for what has no
 * other form, and says what it stands for.
 */
export function readItem(item: Fields): CodexItem | null {
  switch (item["type"]) {
    case "message":
      return messageItem(item);
    case "reasoning":
      return said([{ type: "thinking", thinking: thoughtIn(item) }]);
    case "function_call":
      return said([callOf(item, inputOf(textOf(item["arguments"]) ?? ""))]);
    case "custom_tool_call":
      return said([callOf(item, { raw: textOf(item["input"]) ?? "" })]);
    case "local_shell_call":
      return said([callOf({ ...item, name: "local_shell" }, fieldsOf(item["action"]))]);
    case "web_search_call":
      return said([{ type: "text", text: `[web search: ${searchIn(fieldsOf(item["action"]))}]` }]);
    case "function_call_output":
    case "custom_tool_call_output":
      return { side: "client", blocks: [resultOf(item)] };
    default:
      return null;
  }
}

/** Snapshots of the work tree and what was made unreadable for everybody but the provider. */
const unsaid = new Set(["ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger"]);

export function isKnownItem({ type }: Fields): boolean {
  return unsaid.has(textOf(type) ?? "");
}

function said(blocks: readonly WireBlock[]): CodexItem {
  return { side: "model", blocks };
}

function messageItem({ role, content }: Fields): CodexItem {
  const blocks = listOf(content).flatMap((part) => partOf(fieldsOf(part)));
  return { side: role === "assistant" ? "model" : "client", blocks };
}

function partOf(part: Fields): readonly WireBlock[] {
  const text = textOf(part["text"]);
  if (text !== null) return [{ type: "text", text }];
  const image = textOf(part["image_url"]);
  return image === null ? [] : [imageOf(image)];
}

function imageOf(url: string): WireBlock {
  const [, media, data] = /^data:([\w./+-]+);base64,(.*)$/s.exec(url) ?? [];
  if (media === undefined || data === undefined) return { type: "image", source: { type: "url", url } };
  return { type: "image", source: { type: "base64", media_type: media, data } };
}

function thoughtIn(item: Fields): string {
  const parts = [...listOf(item["summary"]), ...listOf(item["content"])];
  return parts.flatMap((part) => textOf(fieldsOf(part)["text"]) ?? []).join("\n");
}

function callOf(item: Fields, input: unknown): WireBlock {
  const id = textOf(item["call_id"]) ?? textOf(item["id"]) ?? "";
  return { type: "tool_use", id, name: textOf(item["name"]) ?? "", input };
}

/** Arguments are a JSON text; one that was cut off stays a text. */
function inputOf(text: string): unknown {
  const value = parsed(text);
  return typeof value === "object" && value !== null ? value : { raw: text };
}

function searchIn({ query, url, pattern }: Fields): string {
  return [query, url, pattern].flatMap((word) => textOf(word) ?? []).join(" ");
}

/** A text, the parts of one, or in older files an object around a text. */
function resultOf(item: Fields): WireBlock {
  const { output } = item;
  const base = { type: "tool_result", tool_use_id: textOf(item["call_id"]) ?? "" };
  if (Array.isArray(output)) return { ...base, content: output.flatMap((part) => partOf(fieldsOf(part))) };
  const inner = fieldsOf(output);
  const content = textOf(output) ?? textOf(inner["content"]) ?? JSON.stringify(output ?? "");
  return inner["success"] === false ? { ...base, content, is_error: true } : { ...base, content };
}
