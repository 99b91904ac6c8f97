import { textPieces } from "../answer-events.ts";
import type { AnswerMessage } from "../answer-message.ts";
import type { JsonObject } from "../json-text.ts";
import type { ContentBlock } from "../parsed-request.ts";
import { jsonFrame } from "./event-stream.ts";

/** An answer in the form of Converse. */
export function converseMessage(message: AnswerMessage): object {
  const content = message.content.map(converseBlock);
  return {
    output: { message: { role: "assistant", content } },
    stopReason: message.stop_reason,
    ...figuresOf(message),
  };
}

/** The same answer as a series of frames. */
export function converseFrames(message: AnswerMessage): readonly Buffer[] {
  return [
    jsonFrame("messageStart", { role: "assistant" }),
    ...message.content.flatMap(blockFrames),
    jsonFrame("messageStop", { stopReason: message.stop_reason }),
    jsonFrame("metadata", figuresOf(message)),
  ];
}

function figuresOf({ usage }: AnswerMessage): object {
  const [inputTokens, outputTokens] = [usage.input_tokens, usage.output_tokens];
  const [read, write] = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  const totalTokens = inputTokens + outputTokens + read + write;
  return {
    usage: {
      inputTokens,
      outputTokens,
      totalTokens,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: write,
    },
    metrics: { latencyMs: 1 },
  };
}

function converseBlock(block: ContentBlock): object {
  switch (block.type) {
    case "text":
      return { text: block["text"] };
    case "tool_use":
      return { toolUse: { toolUseId: block["id"], name: block["name"], input: block["input"] } };
    case "thinking": {
      const reasoningText = { text: block["thinking"], signature: block["signature"] };
      return { reasoningContent: { reasoningText } };
    }
    case "redacted_thinking":
      return { reasoningContent: { redactedContent: blobOf(block) } };
    default:
      throw new Error(`Converse has no form for a ${block.type} block`);
  }
}

function blobOf(block: ContentBlock): string {
  return Buffer.from(String(block["data"])).toString("base64");
}

function blockFrames(block: ContentBlock, contentBlockIndex: number): readonly Buffer[] {
  const start = startOf(block);
  return [
    ...(start === null ? [] : [jsonFrame("contentBlockStart", { contentBlockIndex, start })]),
    ...deltasOf(block).map((delta) => jsonFrame("contentBlockDelta", { contentBlockIndex, delta })),
    jsonFrame("contentBlockStop", { contentBlockIndex }),
  ];
}

/** Only calls have a start event. */
function startOf(block: ContentBlock): object | null {
  if (block.type !== "tool_use") return null;
  return { toolUse: { toolUseId: block["id"], name: block["name"] } };
}

function deltasOf(block: ContentBlock): readonly object[] {
  switch (block.type) {
    case "text":
      return textPieces(String(block["text"])).map((text) => ({ text }));
    case "tool_use":
      return textPieces(inputText(block)).map((input) => ({ toolUse: { input } }));
    case "thinking":
      return [
        ...textPieces(String(block["thinking"])).map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature: block["signature"] } },
      ];
    case "redacted_thinking":
      return [{ reasoningContent: { redactedContent: blobOf(block) } }];
    default:
      throw new Error(`Converse has no form for a ${block.type} block`);
  }
}

/** A call without arguments has no input text. */
function inputText(block: ContentBlock): string {
  const input = block["input"] as JsonObject; // by the form of calls
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}
