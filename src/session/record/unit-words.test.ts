import { expect, test } from "vitest";
import { unitWords } from "./unit-words.ts";

const words = (value: unknown): string => unitWords(Buffer.from(JSON.stringify(value)));

test.each([
  ["a text", { type: "text", text: "fix it" }, "fix it"],
  [
    "a call: its tool and what it is given",
    { type: "tool_use", id: "c1", name: "look", input: { path: "a.ts", n: 3 } },
    "look\na.ts",
  ],
  [
    "a result, wherever its texts stand",
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
    "an image: nothing but what kind it is",
    { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBOR" } },
    "image/png",
  ],
  ["nothing", null, ""],
])("of %s", (_, value, said) => {
  expect(words(value)).toBe(said);
});

test("bytes that are no JSON say nothing, and neighbours in memory are not read", () => {
  expect(unitWords(Buffer.from("{"))).toBe("");
  const memory = Buffer.from('xx{"text":"a"}yy');
  expect(unitWords(memory.subarray(2, -2))).toBe("a");
});
