import type { Json } from "../base/index.ts";
import type { WireBlock } from "./provider.ts";

type BlockFields = Readonly<Record<string, Json>>;

/*
 * Blocks beside plain text that people and tools may show an agent. A block stays in all later prompts, so
 * one that a provider does not accept is never recorded.
 */

/**
 * Fields a block may have, by its type. A cache mark is not among them: a request may have only a few, all
 * ours.
 */
const allowedFields: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["source"]],
  ["document", ["source", "title", "context", "citations"]],
  ["search_result", ["source", "title", "content", "citations"]],
]);

/** A block as it can be sent. Null if no provider accepts it. */
export function sendableBlock(value: Json): WireBlock | null {
  if (!isBlockFields(value) || pictureProblem(value) !== null) return null;
  const { type = null } = value;
  const known = typeof type === "string" ? allowedFields.get(type) : undefined;
  if (typeof type !== "string" || known === undefined) return null;
  const fields = Object.entries(value).filter(([name]) => known.includes(name));
  const block: WireBlock = { type, ...Object.fromEntries(fields) };
  return hasContent(block) ? block : null;
}

/** A media block of a message as it can be sent. One that cannot be sent becomes a text that says so. */
export function mediaBlock(value: Json): WireBlock {
  const asText = (): WireBlock => ({ type: "text", text: pictureProblem(value) ?? JSON.stringify(value) });
  return sendableBlock(value) ?? asText();
}

const pictureTypes: readonly Json[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Why a picture cannot be sent, or null. Its JSON would be of no use to a reader as text. */
export function pictureProblem(value: Json): string | null {
  if (!isBlockFields(value) || value["type"] !== "image" || !isBlockFields(value["source"] ?? null))
    return null;
  const { type, media_type = null } = value["source"] as BlockFields; // checked one line above
  if (type !== "base64" || pictureTypes.includes(media_type)) return null;
  return `No model takes a picture of type ${media_type}.`;
}

function hasContent({ type, text = null, title = null, source = null, content = null }: WireBlock): boolean {
  switch (type) {
    case "text":
      return typeof text === "string";
    case "search_result":
      return typeof source === "string" && typeof title === "string" && Array.isArray(content);
    default:
      return isBlockFields(source) && isSource(source);
  }
}

function isSource({ type, data }: BlockFields): boolean {
  if (type === "base64" || type === "text") return typeof data === "string";
  return type === "url" || type === "file" || type === "content";
}

export function isBlockFields(value: Json): value is BlockFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
