import type { WireBlock } from "../../transcripts/index.ts";

/** What a reader sees of a block; empty for an image. */
export function blockText(block: WireBlock): string {
  switch (block.type) {
    case "thinking":
      return stringOf(block["thinking"]);
    case "tool_use":
      return [stringOf(block["name"]), ...stringsIn(block["input"])].join("\n");
    case "tool_result":
      return resultText(block["content"]);
    default:
      return stringOf(block["text"]);
  }
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content);
  return (content as readonly WireBlock[]).map((block) => stringOf(block["text"])).join("\n");
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
