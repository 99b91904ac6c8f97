import { describe, expect, it } from "vitest";
import { outcomeLabel, partText, searchableText } from "../../content/index.ts";
import { readPart, readWireType } from "./read-part.ts";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

describe("the text of a content", () => {
  it.each([
    ["a text", { type: "text", text: "hello" }, "hello"],
    ["a bare text", '"hello"', "hello"],
    ["no JSON at all", "hello {", "hello {"],
    ["a call", { type: "tool_use", name: "read", input: { path: "a.ts" } }, 'read({"path":"a.ts"})'],
    ["a result", { type: "tool_result", content: "a file" }, "a file"],
    ["a result without content", { type: "tool_result" }, ""],
    [
      "a result of parts",
      {
        type: "tool_result",
        content: [
          { type: "text", text: "one" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ],
      },
      "one\n(image image/png, 4 characters of base64)",
    ],
    ["a document in plain text", { type: "document", source: { type: "text", data: "page" } }, "page"],
    ["an unknown type", { type: "new", n: 1 }, '{"type":"new","n":1}'],
    ["a number", "12", "12"],
  ])("%s", (_, value, text) => {
    expect(partText(readPart(bytes(value)))).toBe(text);
  });

  it("counts bytes that are no text", () => {
    expect(partText(readPart(Buffer.from([0xff, 0xfe])))).toBe("(2 bytes that are no text)");
  });

  it.each([
    [{ type: "thinking", thinking: "hm", signature: "c2ln" }, "hm", true],
    [{ type: "thinking", thinking: "", signature: "c2ln" }, null, true],
    [{ type: "thinking", thinking: "hm" }, "hm", false],
    [{ type: "redacted_thinking", data: "ZGF0YQ" }, null, true],
    [{ type: "redacted_thinking" }, null, false],
  ])("reads reasoning %j and whether it is signed", (value, text, signed) => {
    expect(readPart(bytes(value))).toMatchObject({ type: "reasoning", text, isSigned: signed });
  });

  it("describes the outcome of reasoning in short", () => {
    const call = { type: "tool_use", name: "read", input: { path: "a.ts", lines: 7, deep: {} } };
    expect(outcomeLabel(readPart(bytes(call)))).toBe("called read(a.ts, 7)");
    expect(outcomeLabel(readPart(bytes({ type: "text", text: "done" })))).toBe('said "done"');
  });
});

describe("the searchable text of a content", () => {
  const textOf = (value: unknown): string => searchableText(readPart(bytes(JSON.stringify(value))));

  it.each([
    ["a text", { type: "text", text: "fix it" }, "fix it"],
    [
      "a call: its tool and its input",
      { type: "tool_use", id: "c1", name: "look", input: { path: "a.ts", n: 3 } },
      "look\na.ts",
    ],
    [
      "a result, at any depth",
      {
        type: "tool_result",
        tool_use_id: "c1",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    ["reasoning without its signature", { type: "thinking", thinking: "hm", signature: "c2ln" }, "hm"],
    [
      "an image: its media type only",
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBOR" } },
      "image/png",
    ],
    ["nothing", null, ""],
  ])("of %s", (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  it("bytes that are no JSON have none, and neighbours in memory are not read", () => {
    expect(searchableText(readPart(Buffer.from("{")))).toBe("");
    const memory = Buffer.from('xx{"type":"text","text":"a"}yy');
    expect(searchableText(readPart(memory.subarray(2, -2)))).toBe("a");
  });
});

it.each([
  ['{"type":"tool_result","content":"done"}', "tool_result"],
  ['"a bare string"', null],
  ["no json at all", null],
  ["[1]", null],
])("the type of %s is %s", (json, type) => {
  expect(readWireType(Buffer.from(json))).toBe(type);
});
