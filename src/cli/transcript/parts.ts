import type { Json } from "../../base/index.ts";
import type { TranscriptRow } from "../../session/index.ts";

type Fields = { readonly [key: string]: Json };

/** What a message is made of, for clients that keep it in another form than the Messages API. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: Fields }
  | { readonly type: "result"; readonly call: string; readonly text: string; readonly isError: boolean }
  | { readonly type: "picture"; readonly media: string; readonly data: string };

/** What cannot be said in that form is named in a line: nothing goes in silence. */
export function partsOf({ content }: TranscriptRow): readonly Part[] {
  return content.map(partOf);
}

function partOf(block: Json): Part {
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
      if (typeof media !== "string" || typeof data !== "string") return unsayable(fields);
      return { type: "picture", media, data };
    }
    default:
      return unsayable(fields);
  }
}

function unsayable({ type }: Fields): Part {
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

function fieldsOf(value: Json | undefined): Fields {
  const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
  return isFields ? (value as Fields) : {}; // neither null nor a list
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
