import { describe, expect, it } from "vitest";
import { reworded, spokenIn, type Words } from "./reword.ts";

const text = (words: string, keepsMedia = true): Words => ({ text: words, keepsMedia });

function other(block: unknown, words: Words): unknown {
  const bytes = reworded(Buffer.from(JSON.stringify(block)), words);
  return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
}

describe("a unit in other words", () => {
  const result = { type: "tool_result", tool_use_id: "call-1", content: "long", is_error: true };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };

  it("stays the answer to its call", () => {
    expect(other(result, text("short"))).toEqual({ ...result, content: "short" });
  });

  it("keeps pictures inside a result unless all of it goes", () => {
    const mixed = { ...result, content: [{ type: "text", text: "long" }, image] };
    expect(other(mixed, text("short"))).toEqual({
      ...result,
      content: [{ type: "text", text: "short" }, image],
    });
    expect(other(mixed, text("short", false))).toEqual({ ...result, content: "short" });
  });

  it("gives a call another input, and nothing else one", () => {
    const call = { type: "tool_use", id: "call-1", name: "Write", input: { path: "a", content: "long" } };
    expect(other(call, { input: { path: "a" } })).toEqual({ ...call, input: { path: "a" } });
    expect(other(call, text("short"))).toBeNull();
    expect(other(result, { input: {} })).toBeNull();
  });

  it("says of a picture what it was", () => {
    expect(other(image, text("a picture"))).toEqual({ type: "text", text: "a picture" });
  });

  it("is nothing where the bytes are no block", () => {
    expect(reworded(Buffer.from("[1]"), text("x"))).toBeNull();
    expect(reworded(Buffer.from("{"), text("x"))).toBeNull();
  });
});

describe("what a unit says", () => {
  const said = (block: unknown) => spokenIn(Buffer.from(JSON.stringify(block)));

  it("is the text of a result, whatever its form", () => {
    const of = (content: unknown) => said({ type: "tool_result", tool_use_id: "a", content });
    expect(of("one")).toEqual({ type: "result", callId: "a", text: "one", isAll: true, isError: false });
    const parts = [{ type: "text", text: "one" }, { type: "image" }, { type: "text", text: "two" }];
    expect(of(parts)).toEqual({
      type: "result",
      callId: "a",
      text: "one\ntwo",
      isAll: false,
      isError: false,
    });
    expect(of([])).toBeNull();
  });

  it("is the name and the input of a call", () => {
    const call = { type: "tool_use", id: "a", name: "Bash", input: { x: 1 } };
    expect(said(call)).toEqual({ type: "call", id: "a", name: "Bash", input: { x: 1 } });
    expect(said({ ...call, input: [] })).toBeNull();
  });

  it("is nothing for an input with a number that would become another one", () => {
    const call = '{"type":"tool_use","id":"a","name":"Send","input":{"channel":1234567890123456789}}';
    expect(spokenIn(Buffer.from(call))).toBeNull();
    expect(reworded(Buffer.from(call), { input: {} })).toBeNull();
  });

  it("is nothing for reasoning", () => {
    expect(said({ type: "thinking", thinking: "hm", signature: "s" })).toBeNull();
  });
});

it("a long number inside a text is only signs", () => {
  const call = (input: string) => Buffer.from(`{"type":"tool_use","id":"a","name":"n","input":${input}}`);
  expect(spokenIn(call('{"text":"trace id: 1234567890123456789"}'))?.type).toBe("call");
  expect(spokenIn(call('{"n":1234567890123456789}'))).toBe(null);
});
