import type { Json } from "../../base/index.ts";
import type { TranscriptRow } from "../../queries/answers/index.ts";

type MessageFields = { readonly [key: string]: Json };

/** A part of a message, for clients that do not use the form of the Messages API. */
export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: MessageFields }
  | { readonly type: "result"; readonly call: string; readonly text: string; readonly isError: boolean }
  | { readonly type: "picture"; readonly media: string; readonly data: string };

/**
 * Parts that the client's format cannot express become a line of text, so that nothing disappears silently.
 */
export function messageParts({ content }: TranscriptRow): readonly MessagePart[] {
  return content.map(partOf);
}

function partOf(block: Json): MessagePart {
  const fields = fieldsOf(block);
  switch (fields["type"]) {
    case "text":
      return { type: "text", text: textOf(fields["text"]) };
    case "tool_use": {
      const { id, name, input } = fields;
      return { type: "call", id: textOf(id), name: textOf(name), input: fieldsOf(input) };
    }
    case "tool_result": {
      const { tool_use_id: call, content, is_error: isError } = fields;
      return { type: "result", call: textOf(call), text: resultText(content), isError: isError === true };
    }
    case "image": {
      const { media_type: media, data } = fieldsOf(fields["source"]);
      if (typeof media !== "string" || typeof data !== "string") return unsupportedPart(fields);
      return { type: "picture", media, data };
    }
    default:
      return unsupportedPart(fields);
  }
}

function unsupportedPart({ type }: MessageFields): MessagePart {
  return { type: "text", text: `[a ${textOf(type) || "block"} that cannot be kept here]` };
}

function resultText(content: Json | undefined): string {
  if (!Array.isArray(content)) return textOf(content);
  const texts = content.map((part) => {
    const { type, text } = fieldsOf(part);
    return type === "text" ? textOf(text) : `[${textOf(type) || "something"} left out]`;
  });
  return texts.join("\n");
}

function fieldsOf(value: Json | undefined): MessageFields {
  const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
  return isFields ? (value as MessageFields) : {}; // checked in the line above
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
