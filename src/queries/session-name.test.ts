import { describe, expect, it } from "vitest";
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
