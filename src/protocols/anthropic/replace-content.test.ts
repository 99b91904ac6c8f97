import { describe, expect, it } from "vitest";
import { editablePart } from "../../content/index.ts";
import type { UnitReplacement } from "../protocol.ts";
import { readPart } from "./read-part.ts";
import { emptyContent, replaceContent, replaceStrings } from "./replace-content.ts";

const editable = (bytes: Uint8Array) => editablePart(readPart(bytes));

const text = (content: string, keepsMedia = true): UnitReplacement => ({ text: content, keepsMedia });

function replaced(block: unknown, replacement: UnitReplacement): unknown {
  const bytes = replaceContent(Buffer.from(JSON.stringify(block)), replacement);
  return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
}

describe("a unit with other content", () => {
  const result = { type: "tool_result", tool_use_id: "call-1", content: "long", is_error: true };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };

  it("stays the answer to its call", () => {
    expect(replaced(result, text("short"))).toEqual({ ...result, content: "short" });
  });

  it("keeps images inside a result unless the whole result is replaced", () => {
    const mixed = { ...result, content: [{ type: "text", text: "long" }, image] };
    expect(replaced(mixed, text("short"))).toEqual({
      ...result,
      content: [{ type: "text", text: "short" }, image],
    });
    expect(replaced(mixed, text("short", false))).toEqual({ ...result, content: "short" });
  });

  it("has another input only if it is a call", () => {
    const call = { type: "tool_use", id: "call-1", name: "Write", input: { path: "a", content: "long" } };
    expect(replaced(call, { input: { path: "a" } })).toEqual({ ...call, input: { path: "a" } });
    expect(replaced(call, text("short"))).toBeNull();
    expect(replaced(result, { input: {} })).toBeNull();
  });

  it("is a text in place of an image", () => {
    expect(replaced(image, text("a picture"))).toEqual({ type: "text", text: "a picture" });
  });

  it("is null if the bytes are no block", () => {
    expect(replaceContent(Buffer.from("[1]"), text("x"))).toBeNull();
    expect(replaceContent(Buffer.from("{"), text("x"))).toBeNull();
  });
});

describe("the readable content of a unit", () => {
  const readable = (block: unknown) => editable(Buffer.from(JSON.stringify(block)));

  it("is the text of a result in any form", () => {
    const of = (content: unknown) => readable({ type: "tool_result", tool_use_id: "a", content });
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
    expect(readable(call)).toEqual({ type: "call", id: "a", name: "Bash", input: { x: 1 } });
    expect(readable({ ...call, input: [] })).toBeNull();
  });

  it("is null for an input with a number that parsing would change", () => {
    const call = '{"type":"tool_use","id":"a","name":"Send","input":{"channel":1234567890123456789}}';
    expect(editable(Buffer.from(call))).toBeNull();
    expect(replaceContent(Buffer.from(call), { input: {} })).toBeNull();
  });

  it("is null for reasoning", () => {
    expect(readable({ type: "thinking", thinking: "hm", signature: "s" })).toBeNull();
  });
});

it("a long number inside a string is no problem", () => {
  const call = (input: string) => Buffer.from(`{"type":"tool_use","id":"a","name":"n","input":${input}}`);
  expect(editable(call('{"text":"trace id: 1234567890123456789"}'))?.type).toBe("call");
  expect(editable(call('{"n":1234567890123456789}'))).toBe(null);
});

describe("a unit that says only one text", () => {
  const emptied = (block: unknown) =>
    JSON.parse(Buffer.from(emptyContent(Buffer.from(JSON.stringify(block)), "gone")).toString()) as unknown;

  it("stays the call or the result that it is", () => {
    expect(emptied({ type: "tool_use", id: "a", name: "Bash", input: { x: 1 } })).toEqual({
      type: "tool_use",
      id: "a",
      name: "Bash",
      input: {},
    });
    expect(emptied({ type: "tool_result", tool_use_id: "a", content: "x", is_error: true })).toEqual({
      type: "tool_result",
      tool_use_id: "a",
      content: "gone",
    });
  });

  it("is a text in any other case", () => {
    expect(emptied({ type: "image" })).toEqual({ type: "text", text: "gone" });
    expect(emptied(null)).toEqual({ type: "text", text: "gone" });
  });
});

it("strings are changed at any depth, or nothing is", () => {
  const call = Buffer.from('{"type":"tool_use","id":"a","name":"n","input":{"list":["old",1]}}');
  const changed = replaceStrings(call, (text) => (text === "old" ? "new" : null));
  expect(Buffer.from(changed ?? []).toString()).toBe(call.toString().replace("old", "new"));
  expect(replaceStrings(call, () => null)).toBeNull();
});
