import fc from "fast-check";
import { expect, test } from "vitest";
import { answerEvents } from "./answer-events.ts";
import type { AnswerMessage } from "./answer-message.ts";
import type { ContentBlock } from "./parsed-request.ts";

const usage = {
  input_tokens: 3,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 9,
  service_tier: "standard",
} as const;

function messageOf(content: readonly ContentBlock[]): AnswerMessage {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-opus-5-5",
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  };
}

type WireEvent = {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: ContentBlock;
  readonly delta?: Readonly<Record<string, unknown>>;
  readonly usage?: unknown;
};

function dataOf(event: Buffer): WireEvent {
  const match = /^event: (\w+)\ndata: (.*)\n\n$/.exec(event.toString("utf8"));
  const data = JSON.parse(match?.[2] ?? "") as WireEvent;
  expect(data.type).toBe(match?.[1]);
  return data;
}

test("events come in the order of the API", () => {
  const content = [
    { type: "thinking", thinking: "hm", signature: "s" },
    { type: "text", text: "hello" },
    { type: "tool_use", id: "t", name: "n", input: { a: 1 } },
    { type: "redacted_thinking", data: "d" },
  ];
  const types = answerEvents(messageOf(content)).map((event) => {
    const { type, delta } = dataOf(event);
    return type === "content_block_delta" ? String(delta?.["type"]) : type;
  });
  const around = (...deltas: string[]) => ["content_block_start", ...deltas, "content_block_stop"];
  expect(types).toEqual([
    "message_start",
    ...["content_block_start", "ping", "thinking_delta", "signature_delta", "content_block_stop"],
    ...around("text_delta"),
    ...around("input_json_delta", "input_json_delta"),
    ...around(),
    "message_delta",
    "message_stop",
  ]);
});

test("the deltas of any answer rebuild it, and the last usage is complete", () => {
  const block = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text): ContentBlock => ({ type: "text", text })),
    fc
      .string({ maxLength: 5000 })
      .map((thinking): ContentBlock => ({ type: "thinking", thinking, signature: "s" })),
    fc.dictionary(fc.string(), fc.string()).map((record): ContentBlock => {
      const input = JSON.parse(JSON.stringify(record)) as Record<string, string>;
      return { type: "tool_use", id: "t", name: "n", input };
    }),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (content) => {
      const events = answerEvents(messageOf(content)).map(dataOf);
      expect(content.map((_, index) => assemble(events, index))).toEqual(content);
      expect(events.at(-2)).toMatchObject({ type: "message_delta", usage });
    }),
    { numRuns: 50 },
  );
});

function assemble(events: readonly WireEvent[], index: number): unknown {
  const own = events.filter((event) => event.index === index);
  const all = (name: string) => own.map(({ delta }) => delta?.[name] ?? "").join("");
  const opening = own[0]?.content_block;
  switch (opening?.type) {
    case "text":
      return { ...opening, text: all("text") };
    case "thinking":
      return { ...opening, thinking: all("thinking"), signature: all("signature") };
    default:
      return { ...opening, input: JSON.parse(all("partial_json")) as unknown };
  }
}
