import type { ConverseStreamOutput } from "@aws-sdk/client-bedrock-runtime";
import { describe, expect, it } from "vitest";
import { converseEventReader } from "./converse-reader.ts";
import { messageEventReader } from "./messages-reader.ts";

const silent = (): void => undefined;
const input = '{"path":"/etc/passwd","text":"all of it"}';
const call = { type: "tool_use", id: "toolu_1", name: "write" };

/** An answer with a call whose input ends early. */
function throughMessages(json: string, stop: string) {
  const events = messageEventReader(silent);
  const take = (event: object): void => events.take(JSON.stringify(event));
  take({ type: "message_start", message: { model: "m", usage: { input_tokens: 1 } } });
  take({ type: "content_block_start", index: 0, content_block: { ...call, input: {} } });
  take({
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json: json },
  });
  take({ type: "content_block_stop", index: 0 });
  take({ type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 1 } });
  take({ type: "message_stop" });
  return events.finish();
}

function throughConverse(json: string, stop: string) {
  const events = converseEventReader(silent);
  const all = [
    {
      contentBlockStart: {
        start: { toolUse: { toolUseId: call.id, name: call.name } },
        contentBlockIndex: 0,
      },
    },
    { contentBlockDelta: { delta: { toolUse: { input: json } }, contentBlockIndex: 0 } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: stop } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ];
  for (const event of all) events.take(event as ConverseStreamOutput);
  return events.finish();
}

describe.each([
  ["Messages", throughMessages],
  ["Converse", throughConverse],
] as const)("a call that is cut off, through %s", (_, through) => {
  it("is part of an answer that was cut off, wherever its input ends", () => {
    for (let end = 1; end <= input.length; end += 1) {
      const result = through(input.slice(0, end), "max_tokens");
      const json = end === input.length ? JSON.parse(input) : {};
      expect(result).toMatchObject({ answer: { stop: "max_tokens", content: [{ ...call, input: json }] } });
    }
  });

  it("is a broken answer if the stop reason does not say that it was cut off", () => {
    for (let end = 1; end < input.length; end += 1)
      expect(through(input.slice(0, end), "tool_use")).toMatchObject({ failure: { type: "broken" } });
  });
});
