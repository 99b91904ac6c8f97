import type { Json } from "../base/index.ts";
import type { WireBlock } from "./provider.ts";

type Fields = Readonly<Record<string, Json>>;

/*
 * What people and tools may show an agent beside words. Whatever stands in a prompt stands in all later ones,
 * so a block that a provider does not take is none here.
 */

/** The fields a block may have. No mark is among them: there are only so many, and all are ours. */
const fieldsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["source"]],
  ["document", ["source", "title", "context", "citations"]],
  ["search_result", ["source", "title", "content", "citations"]],
]);

/** A block as it can be sent; null: no provider takes it. */
export function shownBlock(value: Json): WireBlock | null {
  if (!isFields(value) || pictureProblem(value) !== null) return null;
  const { type = null } = value;
  const known = typeof type === "string" ? fieldsOf.get(type) : undefined;
  if (typeof type !== "string" || known === undefined) return null;
  const fields = Object.entries(value).filter(([name]) => known.includes(name));
  const block: WireBlock = { type, ...Object.fromEntries(fields) };
  return hasContent(block) ? block : null;
}

/** What somebody shows beside what they say. What cannot be shown is told of. */
export function mediaBlock(value: Json): WireBlock {
  const told = (): WireBlock => ({ type: "text", text: pictureProblem(value) ?? JSON.stringify(value) });
  return shownBlock(value) ?? told();
}

const pictureTypes: readonly Json[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Why a picture cannot be shown. Nobody would read it as a text. */
export function pictureProblem(value: Json): string | null {
  if (!isFields(value) || value["type"] !== "image" || !isFields(value["source"] ?? null)) return null;
  const { type, media_type = null } = value["source"] as Fields; // as was looked at just now
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
      return isFields(source) && isSource(source);
  }
}

function isSource({ type, data }: Fields): boolean {
  if (type === "base64" || type === "text") return typeof data === "string";
  return type === "url" || type === "file" || type === "content";
}

export function isFields(value: Json): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
