import { blockText } from "../../src/analysis/play/block-text.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import type { ExactCounter } from "../../src/tokens/index.ts";
import {
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  type Recording,
  recordingStreams,
  turnTime,
} from "../../src/transcripts/index.ts";

/** A block of a conversation. The text is readable: strings in the input of a call are not escaped. */
export type ConversationBlock = { readonly kind: BlockKind; readonly text: string; readonly tokens: number };
export type ConversationMessage = { readonly blocks: readonly ConversationBlock[] };

export type ConversationRequest = {
  /** How many earlier messages the client kept. */
  readonly kept: number;
  readonly messages: readonly ConversationMessage[];
  readonly answer: ConversationMessage;
  readonly timeMs: number | null;
};

/** The main stream of a recording, or that of an agent it started. */
export type Conversation = {
  readonly name: string;
  readonly model: string | null;
  readonly requests: readonly ConversationRequest[];
};

export function conversationsOf(recording: Recording, count: ExactCounter): readonly Conversation[] {
  return recordingStreams(recording).map((turns, index) => ({
    name: index === 0 ? recording.id : `${recording.id}/${index}`,
    model: turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? recording.models[0] ?? null,
    requests: requestsOf(turns, count),
  }));
}

function requestsOf(turns: readonly RecordedTurn[], count: ExactCounter): readonly ConversationRequest[] {
  let messages = 0;
  return turns.map((turn) => {
    const kept = Math.min(messages, turn.k ?? messages);
    messages = kept + turn.c.length + 1;
    return {
      kept,
      messages: turn.c.map((message) => messageOf(message, count)),
      answer: messageOf({ role: "assistant", content: turn.a }, count),
      timeMs: turnTime(turn),
    };
  });
}

function messageOf({ role, content }: RecordedMessage, count: ExactCounter): ConversationMessage {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const read = blocks.map((block) => conversationBlock(block, { isModel: role === "assistant", count }));
  return { blocks: read.filter(({ text }) => text !== "") };
}

function conversationBlock(
  block: RecordedBlock,
  { isModel, count }: { readonly isModel: boolean; readonly count: ExactCounter },
): ConversationBlock {
  const text = blockText(block);
  const sized = block.type === "tool_use" ? `${block["name"]} ${JSON.stringify(block["input"])}` : text;
  return { kind: kindOf(block, isModel), text, tokens: count(sized) };
}

function kindOf({ type }: RecordedBlock, isModel: boolean): BlockKind {
  if (type === "thinking") return "reasoning";
  if (type === "tool_use") return "tool-call";
  if (type === "tool_result") return "tool-result";
  return isModel ? "assistant" : "user";
}
