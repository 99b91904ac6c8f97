import { blockText } from "../../src/analysis/index.ts";
import type { BlockKind } from "../../src/engine/index.ts";
import type { Counter } from "../../src/tokens/index.ts";
import {
  type RecordedTurn,
  type Recording,
  streamsOf,
  timeOf,
  type WireBlock,
  type WireMessage,
} from "../../src/transcripts/index.ts";

/** A block as it was said. The text is what a reader sees; strings in a call's input are not escaped. */
export type Said = { readonly kind: BlockKind; readonly text: string; readonly tokens: number };
export type Message = { readonly blocks: readonly Said[] };

export type Request = {
  /** How many messages of those before the client kept. */
  readonly kept: number;
  readonly messages: readonly Message[];
  readonly answer: Message;
  readonly timeMs: number | null;
};

/** A line of talk: the main one of a recording, or that of an agent it started. */
export type Conversation = {
  readonly name: string;
  readonly model: string | null;
  readonly requests: readonly Request[];
};

export function conversationsOf(recording: Recording, count: Counter): readonly Conversation[] {
  return streamsOf(recording).map((turns, index) => ({
    name: index === 0 ? recording.id : `${recording.id}/${index}`,
    model: turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? recording.models[0] ?? null,
    requests: requestsOf(turns, count),
  }));
}

function requestsOf(turns: readonly RecordedTurn[], count: Counter): readonly Request[] {
  let messages = 0;
  return turns.map((turn) => {
    const kept = Math.min(messages, turn.k ?? messages);
    messages = kept + turn.c.length + 1;
    return {
      kept,
      messages: turn.c.map((message) => messageOf(message, count)),
      answer: messageOf({ role: "assistant", content: turn.a }, count),
      timeMs: timeOf(turn),
    };
  });
}

function messageOf({ role, content }: WireMessage, count: Counter): Message {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const said = blocks.map((block) => saidOf(block, { isModel: role === "assistant", count }));
  return { blocks: said.filter(({ text }) => text !== "") };
}

type Saying = { readonly isModel: boolean; readonly count: Counter };

function saidOf(block: WireBlock, { isModel, count }: Saying): Said {
  const text = blockText(block);
  const sized = block.type === "tool_use" ? `${block["name"]} ${JSON.stringify(block["input"])}` : text;
  return { kind: kindOf(block, isModel), text, tokens: count(sized) };
}

function kindOf({ type }: WireBlock, isModel: boolean): BlockKind {
  if (type === "thinking") return "reasoning";
  if (type === "tool_use") return "tool-call";
  if (type === "tool_result") return "tool-result";
  return isModel ? "assistant" : "user";
}
