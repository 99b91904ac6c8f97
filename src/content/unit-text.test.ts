import { expect, test } from "vitest";
import { searchableText } from "./unit-text.ts";

const textOf = (value: unknown): string => searchableText(Buffer.from(JSON.stringify(value)));

test.each([
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

test("bytes that are no JSON have no text, and neighbours in memory are not read", () => {
  expect(searchableText(Buffer.from("{"))).toBe("");
  const memory = Buffer.from('xx{"text":"a"}yy');
  expect(searchableText(memory.subarray(2, -2))).toBe("a");
});
