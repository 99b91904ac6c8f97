import { describe, expect, it } from "vitest";
import {
  callLabel,
  editablePart,
  outcomeLabel,
  type Part,
  partText,
  searchableText,
  textContent,
  toolLabel,
} from "./part.ts";

const text = (words: string) => ({ type: "text", text: words }) as const;
const call: Part = { type: "call", id: "c1", name: "read", input: { path: "a.ts", n: 3 }, isExact: true };
const result = (...parts: Extract<Part, { type: "result" }>["parts"]): Part => ({
  type: "result",
  callId: "c1",
  parts,
  isError: false,
});
const opaque = { type: "opaque", text: '{"type":"new"}', strings: ["new"], raw: null } as const;

describe("the text of a part", () => {
  it.each<readonly [string, Part, string | null]>([
    ["a text", text("hello"), "hello"],
    ["an instruction", { type: "instruction", text: "Be brief." }, "Be brief."],
    ["a call", call, 'read({"path":"a.ts","n":3})'],
    ["a result of several parts", result(text("one"), opaque), 'one\n{"type":"new"}'],
    ["an empty result", result(), ""],
    ["anything else", opaque, '{"type":"new"}'],
  ])("is that of %s", (_, part, expected) => {
    expect(partText(part)).toBe(expected);
  });
});

describe("what a search finds", () => {
  it("is the tool and the strings of a call, without ids and encoded data", () => {
    const input = { path: "a.ts", deep: [{ note: "b", id: "hidden", data: "hidden" }] };
    expect(searchableText({ ...call, input } as Part)).toBe("read\na.ts\nb");
  });

  it("is what the parts of a result hold", () => {
    expect(searchableText(result(text("one"), opaque))).toBe("one\nnew");
  });
});

describe("a part that may be shortened", () => {
  it("is a text, a result with text, or a call with an input that can be repeated", () => {
    expect(editablePart(text("a"))).toEqual(text("a"));
    expect(editablePart(result(text("a")))).toMatchObject({ text: "a", isAll: true });
    expect(editablePart(result(text("a"), opaque, text("b")))).toMatchObject({ text: "a\nb", isAll: false });
    expect(editablePart(call)).toMatchObject({ name: "read", input: { path: "a.ts", n: 3 } });
  });

  it("is no result without text, no call whose numbers lost digits, and nothing opaque", () => {
    expect(editablePart(result(opaque))).toBeNull();
    expect(editablePart({ ...call, isExact: false } as Part)).toBeNull();
    expect(editablePart({ ...call, input: ["a"] } as Part)).toBeNull();
    expect(editablePart(opaque)).toBeNull();
  });
});

it("labels name calls, tools and outcomes in short", () => {
  expect(callLabel(call)).toBe("read a.ts, 3");
  expect(callLabel(text("a"))).toBeNull();
  expect(outcomeLabel(call)).toBe("called read(a.ts, 3)");
  expect(outcomeLabel(text("done"))).toBe('said "done"');
  const tool = { type: "tool", name: "Read", description: "Reads a file.", text: "", strings: [] } as const;
  expect(toolLabel(tool)).toBe("tool Read: Reads a file.");
  expect(toolLabel({ ...tool, description: "" })).toBe("tool Read");
});

it("a text of ours is stored as a neutral part", () => {
  expect(JSON.parse(textContent("a").toString())).toEqual(text("a"));
});
