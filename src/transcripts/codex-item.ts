import type { RecordedBlock } from "./session-recording.ts";
import {
  jsonList,
  parseJson,
  stringOf,
  type TranscriptFields,
  transcriptFields,
} from "./transcript-values.ts";

/** The blocks of one item, said by the model or sent by the client. */
export type CodexItem = { readonly side: "client" | "model"; readonly blocks: readonly RecordedBlock[] };

/**
 * An item of the Responses API as blocks. Null if the model does not see it. An item without an equivalent
 * becomes a text that describes it.
 */
export function readCodexItem(item: TranscriptFields): CodexItem | null {
  switch (item["type"]) {
    case "message":
      return messageItem(item);
    case "reasoning":
      return modelItem([{ type: "thinking", thinking: thoughtIn(item) }]);
    case "function_call":
      return modelItem([callOf(item, inputOf(stringOf(item["arguments"]) ?? ""))]);
    case "custom_tool_call":
      return modelItem([callOf(item, { raw: stringOf(item["input"]) ?? "" })]);
    case "local_shell_call":
      return modelItem([callOf({ ...item, name: "local_shell" }, transcriptFields(item["action"]))]);
    case "web_search_call":
      return modelItem([
        { type: "text", text: `[web search: ${searchIn(transcriptFields(item["action"]))}]` },
      ]);
    case "function_call_output":
    case "custom_tool_call_output":
      return { side: "client", blocks: [resultOf(item)] };
    default:
      return null;
  }
}

/** Snapshots of the work tree, and items that only the provider can read. */
const ignoredItems = new Set(["ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger"]);

export function isIgnoredItem({ type }: TranscriptFields): boolean {
  return ignoredItems.has(stringOf(type) ?? "");
}

function modelItem(blocks: readonly RecordedBlock[]): CodexItem {
  return { side: "model", blocks };
}

function messageItem({ role, content }: TranscriptFields): CodexItem {
  const blocks = jsonList(content).flatMap((part) => partOf(transcriptFields(part)));
  return { side: role === "assistant" ? "model" : "client", blocks };
}

function partOf(part: TranscriptFields): readonly RecordedBlock[] {
  const text = stringOf(part["text"]);
  if (text !== null) return [{ type: "text", text }];
  const image = stringOf(part["image_url"]);
  return image === null ? [] : [imageOf(image)];
}

function imageOf(url: string): RecordedBlock {
  const [, media, data] = /^data:([\w./+-]+);base64,(.*)$/s.exec(url) ?? [];
  if (media === undefined || data === undefined) return { type: "image", source: { type: "url", url } };
  return { type: "image", source: { type: "base64", media_type: media, data } };
}

function thoughtIn(item: TranscriptFields): string {
  const parts = [...jsonList(item["summary"]), ...jsonList(item["content"])];
  return parts.flatMap((part) => stringOf(transcriptFields(part)["text"]) ?? []).join("\n");
}

function callOf(item: TranscriptFields, input: unknown): RecordedBlock {
  const id = stringOf(item["call_id"]) ?? stringOf(item["id"]) ?? "";
  return { type: "tool_use", id, name: stringOf(item["name"]) ?? "", input };
}

/** Arguments are a JSON text; invalid JSON is kept as raw text. */
function inputOf(text: string): unknown {
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? value : { raw: text };
}

function searchIn({ query, url, pattern }: TranscriptFields): string {
  return [query, url, pattern].flatMap((word) => stringOf(word) ?? []).join(" ");
}

/** The output is a text, a list of parts, or in older files an object around a text. */
function resultOf(item: TranscriptFields): RecordedBlock {
  const { output } = item;
  const base = { type: "tool_result", tool_use_id: stringOf(item["call_id"]) ?? "" };
  if (Array.isArray(output))
    return { ...base, content: output.flatMap((part) => partOf(transcriptFields(part))) };
  const inner = transcriptFields(output);
  const content = stringOf(output) ?? stringOf(inner["content"]) ?? JSON.stringify(output ?? "");
  return inner["success"] === false ? { ...base, content, is_error: true } : { ...base, content };
}
