import type {
  ContentBlock,
  ImageBlock,
  ReasoningContentBlock,
  ToolResultContentBlock,
} from "@aws-sdk/client-bedrock-runtime";
import type { Json } from "../../base/index.ts";
import type { WireBlock } from "../provider.ts";

/** What the Converse interface takes as JSON of any form. */
export type ConverseJson = NonNullable<NonNullable<ContentBlock["toolUse"]>["input"]>;

/** A block of the Messages interface as one of Converse; null where Converse has no form for it. */
export function toConverse(block: WireBlock): ContentBlock | null {
  switch (block.type) {
    case "text":
      return isCited(block) ? null : { text: textIn(block, "text") };
    case "image":
      return imageOf(block);
    case "thinking": {
      const [text, signature] = [textIn(block, "thinking"), textIn(block, "signature")];
      // Not every model on Bedrock signs, and an empty signature is a wrong one.
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
    case foreign:
      return block["block"] as unknown as ContentBlock; // as it was kept below
    default:
      return null;
  }
}

/** A block of a Converse answer as one of the Messages interface. */
export function fromConverse(block: ContentBlock): WireBlock {
  if (block.text !== undefined) return { type: "text", text: block.text };
  if (block.reasoningContent !== undefined) return thinkingOf(block.reasoningContent);
  if (block.toolUse !== undefined) {
    const { toolUseId, name, input } = block.toolUse;
    return { type: "tool_use", id: toolUseId ?? "", name: name ?? "", input: (input ?? {}) as Json };
  }
  return { type: foreign, block: JSON.parse(JSON.stringify(block)) as Json };
}

/** Json is read-only here and not there; nobody changes either. */
export function converseJson(value: Json): ConverseJson {
  return value as ConverseJson;
}

/** What an answer holds for which Messages has no form. It is kept as it came, and goes back so. */
const foreign = "converse";

function thinkingOf({ reasoningText, redactedContent }: ReasoningContentBlock): WireBlock {
  if (redactedContent !== undefined) {
    return { type: "redacted_thinking", data: Buffer.from(redactedContent).toString("base64") };
  }
  const [thinking, signature] = [reasoningText?.text ?? "", reasoningText?.signature ?? ""];
  return { type: "thinking", thinking, signature };
}

/** Only what came through Converse can go back through it: elsewhere these are texts of another alphabet. */
function redactedOf(data: string): ContentBlock | null {
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64") === data ? { reasoningContent: { redactedContent: bytes } } : null;
}

function resultOf(block: WireBlock): ContentBlock | null {
  const { content } = block;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const given = Array.isArray(parts) ? (parts as readonly WireBlock[]) : []; // by the form of tool results
  const said = given.filter((part) => part.type !== "text" || textIn(part, "text").trim() !== "");
  const translated = said.map(resultPartOf).filter((part) => part !== null);
  if (translated.length < said.length) return null;
  const isError = block["is_error"] === true;
  return {
    toolResult: {
      toolUseId: textIn(block, "tool_use_id"),
      // An error that says nothing is refused.
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
  const source = block["source"] as Readonly<Record<string, Json>> | undefined; // by the form of images
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
