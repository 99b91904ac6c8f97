import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerReader, readWireAnswer } from "./answer.ts";

const sse = "text/event-stream; charset=utf-8";

function wire(...events: readonly object[]): Buffer {
  return Buffer.from(
    events
      .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
  );
}

const usage = {
  input_tokens: 5,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 2,
  output_tokens: 1,
};
const start = { type: "message_start", message: { id: "m", model: "claude-x", content: [], usage } };
const blockStart = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, change: object) => ({ type: "content_block_delta", index, delta: change });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = [
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 42 } },
  { type: "message_stop" },
];
const whole = [
  start,
  blockStart(0, { type: "thinking", thinking: "", signature: "" }),
  delta(0, { type: "thinking_delta", thinking: "let me " }),
  delta(0, { type: "thinking_delta", thinking: "see" }),
  delta(0, { type: "signature_delta", signature: "sig" }),
  stop(0),
  { type: "ping" },
  blockStart(1, { type: "tool_use", id: "t1", name: "read", input: {} }),
  delta(1, { type: "input_json_delta", partial_json: '{"n": 1.0' }),
  delta(1, { type: "input_json_delta", partial_json: "}" }),
  stop(1),
  blockStart(2, { type: "text", text: "" }),
  delta(2, { type: "text_delta", text: "done \u{1f525}" }),
  stop(2),
  ...end,
];

describe("reading an answer", () => {
  it("gives the same result if its events are written in an unusual form", () => {
    const chars = fc.constantFrom(
      "a",
      "\\",
      '"',
      "\n",
      "\u0007",
      "\u007f",
      "\u2028",
      "\u{1f525}",
      "\ud83d",
      "}}",
      " ",
    );
    const type = fc.constantFrom("text_delta", "thinking_delta", "input_json_delta", "other_delta");
    const field = fc.constantFrom("text", "thinking", "partial_json", "type", "__proto__", "index");
    const deltas = fc.array(fc.tuple(fc.nat(2), type, field, fc.string({ unit: chars })), { maxLength: 8 });
    const readAs = (events: string, rewrite: (data: string) => string) =>
      readWireAnswer(
        Buffer.from(
          `${wire(start, blockStart(0, { type: "text", text: "" }))}${rewrite(events)}${wire(stop(0))}`,
        ),
        sse,
      );
    fc.assert(
      fc.property(deltas, fc.constantFrom("}}", "} }", "}    }", "}\t}", "}}}", "}"), (parts, end) => {
        const events = parts.map(([index, kind, name, text]) => {
          const data = `{"type":"content_block_delta","index":${index},"delta":{"type":"${kind}","${name}":`;
          return `data: ${data}${JSON.stringify(text)}${end}\n\n`;
        });
        const spaced = (data: string) =>
          data.replaceAll('{"type":"content_block_delta"', '{ "type":"content_block_delta"');
        expect(readAs(events.join(""), (data) => data)).toEqual(readAs(events.join(""), spaced));
      }),
    );
  });

  it("puts blocks together as a client will send them back", () => {
    const answer = readWireAnswer(wire(...whole), sse);
    expect(answer.units.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
      '{"type":"thinking","thinking":"let me see","signature":"sig"}',
      '{"type":"tool_use","id":"t1","name":"read","input":{"n": 1.0}}',
      '{"type":"text","text":"done \u{1f525}"}',
    ]);
    expect(answer).toMatchObject({ isWhole: true, problem: null, stop: "tool_use", model: "claude-x" });
    expect(answer.usage).toEqual({ input: 5, cacheRead: 7, cacheWrite: 2, output: 42 });
  });

  it("keeps the citations of a text", () => {
    const citations = [
      { type: "char_location", cited_text: "a" },
      { type: "char_location", cited_text: "b" },
    ];
    const events = [
      blockStart(0, { type: "text", text: "" }),
      delta(0, { type: "text_delta", text: "so it is" }),
      ...citations.map((citation) => delta(0, { type: "citations_delta", citation })),
      stop(0),
    ];
    const [text] = readWireAnswer(wire(start, ...events, ...end), sse).units;
    expect(JSON.parse(Buffer.from(text?.bytes ?? []).toString())).toEqual({
      type: "text",
      text: "so it is",
      citations,
    });
  });

  it("gives the same result for events one by one and all together", () => {
    const reader = new AnswerReader();
    for (const event of whole) reader.addEvent({ event: event.type, data: JSON.stringify(event) });
    expect(reader.finish()).toEqual(readWireAnswer(wire(...whole), sse));
  });

  it("is never whole before its last event", () => {
    const bytes = wire(...whole);
    for (let at = 0; at < bytes.length; at += 1) {
      const answer = readWireAnswer(bytes.subarray(0, at), sse);
      expect(answer.isWhole).toBe(false);
      expect(answer.units.length).toBeLessThanOrEqual(3);
    }
  });

  it("keeps only blocks that were sent to their end", () => {
    const cut = whole.slice(0, 9);
    expect(readWireAnswer(wire(...cut), sse).units.map(({ unit }) => unit.kind)).toEqual(["reasoning"]);
  });

  it("reports an error event as a problem", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const answer = readWireAnswer(wire(start, error), sse);
    expect(answer).toMatchObject({ isWhole: false, problem: "overloaded_error: Overloaded" });
  });

  it("continues after a damaged event, and reports the damage", () => {
    const bytes = Buffer.concat([wire(start), Buffer.from("data: {oops\n\n"), wire(...whole.slice(11))]);
    const answer = readWireAnswer(bytes, sse);
    expect(answer.problem).toBe("an event is not JSON");
    expect(answer.isWhole).toBe(false);
    expect(answer.units).toHaveLength(1);
  });

  it("reads a message that came as one JSON, and an error", () => {
    const message = {
      model: "claude-x",
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage,
    };
    const answer = readWireAnswer(Buffer.from(JSON.stringify(message)), "application/json");
    expect(answer).toMatchObject({ isWhole: true, stop: "end_turn" });
    expect(answer.units).toHaveLength(1);
    const refused = { type: "error", error: { type: "rate_limit_error", message: "slow down" } };
    expect(readWireAnswer(Buffer.from(JSON.stringify(refused)), "application/json")).toMatchObject({
      units: [],
      problem: "rate_limit_error: slow down",
    });
    expect(readWireAnswer(Buffer.from("<html>"), "text/html").problem).toBe("it is not JSON");
  });
});
