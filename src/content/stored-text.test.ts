import { describe, expect, it } from "vitest";
import { isSigned, reasoningOutcome, storedText } from "./stored-text.ts";

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
    expect(storedText(bytes(value), "tool-result")).toBe(text);
  });

  it("counts bytes that are no text", () => {
    expect(storedText(Buffer.from([0xff, 0xfe]), "media")).toBe("(2 bytes that are no text)");
  });

  it.each([
    [{ type: "thinking", thinking: "hm", signature: "c2ln" }, "hm", true],
    [{ type: "thinking", thinking: "", signature: "c2ln" }, null, true],
    [{ type: "thinking", thinking: "hm" }, "hm", false],
    [{ type: "redacted_thinking", data: "ZGF0YQ" }, null, true],
    [{ type: "redacted_thinking" }, null, false],
    ["nonsense {", null, false],
  ])("reads reasoning %j and whether it is signed", (value, text, signed) => {
    expect([storedText(bytes(value), "reasoning"), isSigned(bytes(value))]).toEqual([text, signed]);
  });

  it("describes the outcome of reasoning in short", () => {
    const call = { type: "tool_use", name: "read", input: { path: "a.ts", lines: 7, deep: {} } };
    expect(reasoningOutcome(bytes(call))).toBe("called read(a.ts, 7)");
    expect(reasoningOutcome(bytes({ type: "text", text: "done" }))).toBe('said "done"');
  });
});
