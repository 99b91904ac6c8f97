import { describe, expect, it } from "vitest";
import { plainTextIn, wireTypeOf } from "../content/index.ts";
import { nameFromPrompt } from "./session-name.ts";

describe("the name of a session", () => {
  it("is one line without control and direction marks", () => {
    expect(nameFromPrompt("  fix\n\tthe \u001b[31mlogin\u202e page\u0000 ")).toBe("fix the [31mlogin page");
  });

  it("is cut by characters, never through one", () => {
    const name = nameFromPrompt("🔥".repeat(80));
    expect(name).toBe(`${"🔥".repeat(60)}…`);
    expect(Buffer.from(name ?? "").toString()).toBe(name);
  });

  it("does not come from text in tags, nor from empty text", () => {
    for (const text of [
      "<system-reminder>be careful</system-reminder>",
      " <context>x",
      "<permissions instructions>x",
      "",
      " \n",
      null,
    ]) {
      expect(nameFromPrompt(text)).toBeNull();
    }
    expect(nameFromPrompt("a < b")).toBe("a < b");
  });
});

describe("the text and the type of a content", () => {
  it.each([
    ['{"type":"text","text":"hello"}', "hello", "text"],
    ['{"type":"tool_result","content":"done"}', "done", "tool_result"],
    ['{"type":"tool_use","input":{}}', null, "tool_use"],
    ['"a bare string"', "a bare string", null],
    ["no json at all", "no json at all", null],
    ["[1]", null, null],
    ["null", null, null],
  ])("of %s are found", (json, text, type) => {
    expect(plainTextIn(Buffer.from(json))).toBe(text);
    expect(wireTypeOf(Buffer.from(json))).toBe(type);
  });

  it("are not looked for in bytes that are no text", () => {
    expect(plainTextIn(Uint8Array.of(0xff, 0xfe))).toBeNull();
  });
});
