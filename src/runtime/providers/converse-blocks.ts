import type {
  ContentBlock,
  ImageBlock,
  ReasoningContentBlock,
  ToolResultContentBlock,
} from "@aws-sdk/client-bedrock-runtime";
import type { Json } from "../../base/index.ts";
import type { WireBlock } from "../provider.ts";

/** The type of the Converse API for any JSON value. */
export type ConverseJson = NonNullable<NonNullable<ContentBlock["toolUse"]>["input"]>;

/** A block of the Messages API as one of Converse. Null if Converse has no form for it. */
export function toConverse(block: WireBlock): ContentBlock | null {
  switch (block.type) {
    case "text":
      return isCited(block) ? null : { text: textIn(block, "text") };
    case "image":
      return imageOf(block);
    case "thinking": {
      const [text, signature] = [textIn(block, "thinking"), textIn(block, "signature")];
      // Not every model on Bedrock signs its reasoning, and an empty signature is refused as wrong.
      return { reasoningContent: { reasoningText: { text, ...(signature === "" ? {} : { signature }) } } };
    }
    case "redacted_thinking":
      return redactedOf(textIn(block, "data"));
    case "tool_use": {
      const [toolUseId, name] = [textIn(block, "id"), textIn(block, "name")];
      return { toolUse: { toolUseId, name, input: converseJson(block["input"] ?? {}) } };
    }
    case "tool_result":
      return resultOf(block);
    case unknownType:
      return block["block"] as unknown as ContentBlock; // fromConverse stored it
    default:
      return null;
  }
}

/** A block of a Converse answer as one of the Messages API. */
export function fromConverse(block: ContentBlock): WireBlock {
  if (block.text !== undefined) return { type: "text", text: block.text };
  if (block.reasoningContent !== undefined) return thinkingOf(block.reasoningContent);
  if (block.toolUse !== undefined) {
    const { toolUseId, name, input } = block.toolUse;
    return { type: "tool_use", id: toolUseId ?? "", name: name ?? "", input: (input ?? {}) as Json };
  }
  return { type: unknownType, block: JSON.parse(JSON.stringify(block)) as Json };
}

/** Our Json type is read-only and that of Converse is not; no code changes either. */
export function converseJson(value: Json): ConverseJson {
  return value as ConverseJson;
}

/** Type of a block for which the Messages API has no form. It is stored and sent back as it came. */
const unknownType = "converse";

function thinkingOf({ reasoningText, redactedContent }: ReasoningContentBlock): WireBlock {
  if (redactedContent !== undefined) {
    return { type: "redacted_thinking", data: Buffer.from(redactedContent).toString("base64") };
  }
  const [thinking, signature] = [reasoningText?.text ?? "", reasoningText?.signature ?? ""];
  return { type: "thinking", thinking, signature };
}

/** Null unless the data came through Converse: data of other APIs is not base64 and cannot be sent here. */
function redactedOf(data: string): ContentBlock | null {
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64") === data ? { reasoningContent: { redactedContent: bytes } } : null;
}

function resultOf(block: WireBlock): ContentBlock | null {
  const { content } = block;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const blocks = Array.isArray(parts) ? (parts as readonly WireBlock[]) : []; // a tool result holds blocks
  const nonBlank = blocks.filter((part) => part.type !== "text" || textIn(part, "text").trim() !== "");
  const translated = nonBlank.map(resultPartOf).filter((part) => part !== null);
  if (translated.length < nonBlank.length) return null;
  const isError = block["is_error"] === true;
  return {
    toolResult: {
      toolUseId: textIn(block, "tool_use_id"),
      // Converse refuses an error without text.
      content: isError && translated.length === 0 ? [{ text: "error" }] : translated,
      status: isError ? "error" : "success",
    },
  };
}

function resultPartOf(part: WireBlock): ToolResultContentBlock | null {
  if (part.type === "text") return { text: textIn(part, "text") };
  const image = part.type === "image" ? imageOf(part)?.image : undefined;
  return image === undefined ? null : { image };
}

const formats: ReadonlyMap<string, NonNullable<ImageBlock["format"]>> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
] as const);

function imageOf(block: WireBlock): ContentBlock.ImageMember | null {
  const source = block["source"] as Readonly<Record<string, Json>> | undefined; // an image has such a source
  const format = formats.get(String(source?.["media_type"]));
  if (source?.["type"] !== "base64" || format === undefined) return null;
  return { image: { format, source: { bytes: Buffer.from(String(source["data"]), "base64") } } };
}

function isCited({ citations }: WireBlock): boolean {
  return Array.isArray(citations) && citations.length > 0;
}

function textIn(block: WireBlock, field: string): string {
  const value = block[field];
  return typeof value === "string" ? value : "";
}
