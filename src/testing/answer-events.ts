import { cutText } from "../base/index.ts";
import type { AnswerMessage } from "./answer-message.ts";
import type { JsonObject } from "./json-text.ts";
import type { ContentBlock } from "./parsed-request.ts";

/** The wire events of an answer, one buffer each, in the order of the API. */
export function answerEvents(message: AnswerMessage): readonly Buffer[] {
  const { content, stop_reason, stop_sequence, usage, context_management, ...head } = message;
  const edits = context_management === undefined ? {} : { context_management };
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const blocks = content.flatMap((block, index) => blockEvents(block, index));
  const ping = wireEvent({ type: "ping" });
  return [
    wireEvent({ type: "message_start", message: start }),
    // The real API sends a ping once the first block has begun.
    ...(blocks.length === 0 ? [ping] : [...blocks.slice(0, 1), ping, ...blocks.slice(1)]),
    wireEvent({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage, ...edits }),
    wireEvent({ type: "message_stop" }),
  ];
}

export function wireEvent(data: { readonly type: string; readonly [key: string]: unknown }): Buffer {
  return Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function blockEvents(block: ContentBlock, index: number): readonly Buffer[] {
  const delta = (fields: JsonObject): Buffer =>
    wireEvent({ type: "content_block_delta", index, delta: fields });
  const { opening, deltas } = partsOf(block);
  return [
    wireEvent({ type: "content_block_start", index, content_block: opening }),
    ...deltas.map(delta),
    wireEvent({ type: "content_block_stop", index }),
  ];
}

type BlockParts = { readonly opening: JsonObject; readonly deltas: readonly JsonObject[] };

function partsOf(block: ContentBlock): BlockParts {
  switch (block.type) {
    case "text":
      return {
        opening: { ...block, text: "" },
        deltas: textPieces(String(block["text"])).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        opening: { ...block, thinking: "", signature: "" },
        deltas: [
          ...textPieces(String(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] ?? "" },
        ],
      };
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return {
        opening: { ...block, input: {} },
        deltas: ["", ...textPieces(JSON.stringify(block["input"]))].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      };
    case "compaction": {
      const { type, ...fields } = block;
      return { opening: { type, content: null }, deltas: [{ type: "compaction_delta", ...fields }] };
    }
    default:
      return { opening: block, deltas: [] };
  }
}

const pieceCharsMin = 16;
const piecesMax = 200;

/** Cuts a text by code point, and into a bounded number of pieces. */
export function textPieces(text: string): readonly string[] {
  const chars = Math.max(pieceCharsMin, Math.ceil(text.length / piecesMax));
  const pieces: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const piece = cutText(rest, chars);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}
