import type { BlockKind } from "../../engine/index.ts";

/** A JSON object of unknown making: fields are looked at one by one. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function textIn(fields: Fields | null, name: string): string | null {
  const value = fields?.[name];
  return typeof value === "string" ? value : null;
}

export function countIn(fields: Fields | null, name: string): number {
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
  // Notices a client puts between messages; its system prompt stands in a section of its own.
  ["system", "ambient"],
]);

/** What a content block is. Server tools answer with types of their own, all of which end alike. */
export function kindOf(role: string, type: string): BlockKind {
  const byType = kindsByType.get(type) ?? (type.endsWith("_tool_result") ? "tool-result" : null);
  return byType ?? kindsByRole.get(role) ?? "user";
}

/** The field by which a block is recognised when a client sends it again, whatever else it did to it. */
export function anchorOf(fields: Fields): string | null {
  switch (fields["type"]) {
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return prefixed("call", textIn(fields, "id"));
    case "thinking":
      return prefixed("sign", textIn(fields, "signature"));
    case "redacted_thinking":
      return prefixed("sign", textIn(fields, "data"));
    default:
      return null;
  }
}

/** An empty signature recognises nothing. */
function prefixed(word: string, value: string | null): string | null {
  return value === null || value === "" ? null : `${word}:${value}`;
}

export function callIdOf(fields: Fields): string | null {
  return (
    textIn(fields, "tool_use_id") ?? (anchorOf(fields)?.startsWith("call:") ? textIn(fields, "id") : null)
  );
}
