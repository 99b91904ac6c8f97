import { isFields, type JsonFields, type Part, type WireContent } from "../content/index.ts";
import type { WritableMessage } from "./written-transcript.ts";

/** A part of a message in terms that every client has. */
export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: JsonFields }
  | { readonly type: "result"; readonly call: string; readonly text: string; readonly isError: boolean }
  | { readonly type: "picture"; readonly media: string; readonly data: string };

/**
 * Parts that the client's format cannot express become a line of text, so that nothing disappears silently.
 */
export function messageParts({ content }: WritableMessage): readonly MessagePart[] {
  return content.map(messagePart);
}

function messagePart(part: Part): MessagePart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "call": {
      const { id, name, input } = part;
      return { type: "call", id, name, input: isFields(input) ? input : {} };
    }
    case "result": {
      const texts = part.parts.map((one) => (one.type === "text" ? one.text : leftOutLine(one)));
      return { type: "result", call: part.callId, text: texts.join("\n"), isError: part.isError };
    }
    case "media":
      return part.kind === "image" && part.file !== null
        ? { type: "picture", media: part.file.type, data: part.file.data }
        : { type: "text", text: lostLine(part) };
    default:
      return { type: "text", text: lostLine(part) };
  }
}

/** The line in place of a part that a client cannot keep. */
export function lostLine(part: Part): string {
  return `[a ${labelOf(part) ?? "block"} that cannot be kept here]`;
}

function leftOutLine(part: Part): string {
  return `[${labelOf(part) ?? "something"} left out]`;
}

function labelOf(part: Part): string | null {
  return part.type === "media" ? part.kind : (rawOf(part)?.type ?? null);
}

/** A part in the words of its wire format, if it is more than its neutral fields say. */
export function rawOf(part: Part): WireContent | null {
  return part.type === "media" || part.type === "provider" || part.type === "opaque" ? part.raw : null;
}
