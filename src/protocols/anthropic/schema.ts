import type { PartType } from "../../content/index.ts";
import type { BlockKind } from "../../engine/frames/index.ts";

/** A JSON object that is not validated: fields are read one by one. */
export type WireFields = Readonly<Record<string, unknown>>;

export function wireFields(value: unknown): WireFields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireFields) : null;
}

export function stringField(fields: WireFields | null, name: string): string | null {
  const value = fields?.[name];
  return typeof value === "string" ? value : null;
}

export function countField(fields: WireFields | null, name: string): number {
  const value = fields?.[name];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

const kindsByType: ReadonlyMap<string, BlockKind> = new Map([
  ["thinking", "reasoning"],
  ["redacted_thinking", "reasoning"],
  ["tool_use", "tool-call"],
  ["server_tool_use", "tool-call"],
  ["mcp_tool_use", "tool-call"],
  ["tool_result", "tool-result"],
  ["mcp_tool_result", "tool-result"],
  ["image", "media"],
  ["document", "media"],
]);
const kindsByRole: ReadonlyMap<string, BlockKind> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  // A system message between the others is a notice of the client; its system prompt is a section of its own.
  ["system", "ambient"],
]);

const partTypes: ReadonlyMap<string, PartType> = new Map([
  ["text", "text"],
  ["thinking", "reasoning"],
  ["redacted_thinking", "reasoning"],
  ["tool_use", "call"],
  ["tool_result", "result"],
  ["image", "media"],
  ["document", "media"],
]);

/** The neutral type of a content block. Calls that the provider runs and their results are its own affair. */
export function partTypeOf(type: string): PartType {
  return partTypes.get(type) ?? (/_tool_(?:use|result)$/.test(type) ? "provider" : "opaque");
}

/** The kind of a content block. Result types of server tools differ, but all end with `_tool_result`. */
export function wireKind(role: string, type: string): BlockKind {
  const byType = kindsByType.get(type) ?? (type.endsWith("_tool_result") ? "tool-result" : null);
  return byType ?? kindsByRole.get(role) ?? "user";
}

/**
 * The key by which a block is recognised when a client sends it again with other changes; null if it has
 * none.
 */
export function wireAnchor(fields: WireFields): string | null {
  switch (fields["type"]) {
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return prefixed("call", stringField(fields, "id"));
    case "thinking":
      return prefixed("sign", stringField(fields, "signature"));
    case "redacted_thinking":
      return prefixed("sign", stringField(fields, "data"));
    default:
      return null;
  }
}

/** An empty signature identifies nothing. */
function prefixed(word: string, value: string | null): string | null {
  return value === null || value === "" ? null : `${word}:${value}`;
}

export function wireCallId(fields: WireFields): string | null {
  return (
    stringField(fields, "tool_use_id") ??
    (wireAnchor(fields)?.startsWith("call:") ? stringField(fields, "id") : null)
  );
}
