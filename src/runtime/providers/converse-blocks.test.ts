import type { ContentBlock } from "@aws-sdk/client-bedrock-runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireBlock } from "../provider.ts";
import { fromConverse, toConverse } from "./converse-blocks.ts";
import { converseEventReader, readConverseAnswer } from "./converse-reader.ts";

const text = fc.string();
const input = fc.dictionary(text, fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as object);
const modelBlock: fc.Arbitrary<WireBlock> = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: text }),
  fc.record({
    type: fc.constant("redacted_thinking"),
    data: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
  }),
  fc.record({ type: fc.constant("tool_use"), id: text, name: text, input: input as fc.Arbitrary<never> }),
);

describe("blocks of Converse", () => {
  it("convert back to exactly the block of the model", () => {
    fc.assert(
      fc.property(modelBlock, (block) => {
        const converse = toConverse(block);
        expect(converse === null ? null : fromConverse(converse)).toEqual(block);
      }),
    );
  });

  it("keep an unknown block and send it back", () => {
    const unknown = { citationsContent: { content: [{ text: "so" }], citations: [] } } as ContentBlock;
    const kept = fromConverse(unknown);
    expect(kept.type).toBe("converse");
    expect(toConverse(JSON.parse(JSON.stringify(kept)) as WireBlock)).toEqual(unknown);
  });

  it("leave out an empty signature", () => {
    const block = { type: "thinking", thinking: "hm", signature: "" };
    expect(toConverse(block)).toEqual({ reasoningContent: { reasoningText: { text: "hm" } } });
  });

  it.each<WireBlock>([
    { type: "server_tool_use", id: "a", name: "web_search", input: {} },
    { type: "redacted_thinking", data: "not of this alphabet!" },
    { type: "text", text: "a", citations: [{ type: "char_location" }] },
    { type: "image", source: { type: "base64", media_type: "image/heic", data: "" } },
    { type: "tool_result", tool_use_id: "a", content: [{ type: "document" }] },
  ])("have no form for this block: $type", (block) => {
    expect(toConverse(block)).toBeNull();
  });

  it("leave a blank result empty, but give a failed one a text", () => {
    const result = (fields: object) =>
      toConverse({ type: "tool_result", tool_use_id: "a", ...fields })?.toolResult;
    expect(result({ content: "  " })).toEqual({ toolUseId: "a", content: [], status: "success" });
    expect(result({})).toEqual({ toolUseId: "a", content: [], status: "success" });
    expect(result({ is_error: true })).toMatchObject({ content: [{ text: "error" }], status: "error" });
  });
});

describe("an answer of Converse", () => {
  const output = { message: { role: "assistant" as const, content: [{ text: "a" }] } };

  it.each([
    ["end_turn", "end_turn"],
    ["tool_use", "tool_use"],
    ["max_tokens", "max_tokens"],
    ["stop_sequence", "stop_sequence"],
    ["model_context_window_exceeded", "model_context_window_exceeded"],
    ["guardrail_intervened", "refusal"],
    ["content_filtered", "refusal"],
  ] as const)("that stops with %s stops with %s", (stopReason, stop) => {
    expect(readConverseAnswer({ output, stopReason, usage: undefined })).toMatchObject({ answer: { stop } });
  });

  it("without an end is broken", () => {
    const events = converseEventReader(() => undefined);
    events.take({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: "a" } } });
    expect(events.finish()).toMatchObject({ failure: { type: "broken" } });
  });

  it("is the same in events as whole, with blocks in the order in which they end", () => {
    const pieces: string[] = [];
    const events = converseEventReader((piece) => pieces.push(piece));
    const at = (contentBlockIndex: number) => ({ contentBlockIndex });
    for (const [index, text] of [
      [0, "He"],
      [0, "llo"],
    ] as const) {
      events.take({ contentBlockDelta: { ...at(index), delta: { text } } });
    }
    events.take({ contentBlockStop: at(0) });
    events.take({ contentBlockStart: { ...at(1), start: { toolUse: { toolUseId: "t", name: "look" } } } });
    events.take({ contentBlockStop: at(1) });
    events.take({ contentBlockStop: at(2) });
    events.take({ messageStop: { stopReason: "tool_use" } });
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      totalTokens: 10,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 4,
    };
    events.take({ metadata: { usage, metrics: { latencyMs: 1 } } });
    expect(events.finish()).toEqual({
      answer: {
        content: [
          { type: "text", text: "Hello" },
          { type: "tool_use", id: "t", name: "look", input: {} },
        ],
        stop: "tool_use",
        usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
      },
    });
    expect(pieces).toEqual(["He", "llo"]);
  });
});
