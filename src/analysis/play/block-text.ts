import type { RecordedBlock } from "../../transcripts/index.ts";

/** The readable text of a block; empty for an image. */
export function blockText(block: RecordedBlock): string {
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
  return (content as readonly RecordedBlock[]).map((block) => stringOf(block["text"])).join("\n");
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
