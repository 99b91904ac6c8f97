import { describe, expect, it } from "vitest";
import { nameFrom } from "./session-name.ts";
import { textIn, wireTypeOf } from "./wire-look.ts";

describe("the name of a session", () => {
  it("is one line without control and direction marks", () => {
    expect(nameFrom("  fix\n\tthe \u001b[31mlogin\u202e page\u0000 ")).toBe("fix the [31mlogin page");
  });

  it("is cut by characters, never through one", () => {
    const name = nameFrom("🔥".repeat(80));
    expect(name).toBe(`${"🔥".repeat(60)}…`);
    expect(Buffer.from(name ?? "").toString()).toBe(name);
  });

  it("does not come from what a client put into tags, nor from nothing", () => {
    for (const text of [
      "<system-reminder>be careful</system-reminder>",
      " <context>x",
      "<permissions instructions>x",
      "",
      " \n",
      null,
    ]) {
      expect(nameFrom(text)).toBeNull();
    }
    expect(nameFrom("a < b")).toBe("a < b");
  });
});

describe("the words and the type of a block", () => {
  it.each([
    ['{"type":"text","text":"hello"}', "hello", "text"],
    ['{"type":"tool_result","content":"done"}', "done", "tool_result"],
    ['{"type":"tool_use","input":{}}', null, "tool_use"],
    ['"a bare string"', "a bare string", null],
    ["no json at all", "no json at all", null],
    ["[1]", null, null],
    ["null", null, null],
  ])("of %s are found", (json, text, type) => {
    expect(textIn(Buffer.from(json))).toBe(text);
    expect(wireTypeOf(Buffer.from(json))).toBe(type);
  });

  it("are not looked for in bytes that are no text", () => {
    expect(textIn(Uint8Array.of(0xff, 0xfe))).toBeNull();
  });
});
