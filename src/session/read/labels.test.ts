import { describe, expect, it } from "vitest";
import { contentLabel } from "./labels.ts";

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe("what a block is about, in a line", () => {
  it("a call is its tool and what it is given", () => {
    const call = {
      type: "tool_use",
      id: "c1",
      name: "Read",
      input: { file_path: "src/auth/token.ts", limit: 20 },
    };
    expect(contentLabel(bytes(call), "tool-call")).toBe("Read src/auth/token.ts, 20");
  });

  it("a tool that is offered is its name and what it does", () => {
    const tool = { name: "Read", description: "Reads a file.", input_schema: { type: "object" } };
    expect(contentLabel(bytes(tool), "system")).toBe("tool Read: Reads a file.");
    expect(contentLabel(bytes({ name: "Read", input_schema: {} }), "system")).toBe("tool Read");
  });

  it("words are one line, cut between characters", () => {
    expect(contentLabel(bytes({ type: "text", text: "\n  Find out\n\twhy. " }), "user")).toBe(
      "Find out why.",
    );
    const long = contentLabel(bytes({ type: "text", text: "𝒳".repeat(90) }), "user");
    expect(long).toMatch(/^(?:𝒳)+…$/u);
    expect(long?.length).toBeLessThanOrEqual(100);
  });

  it("what says nothing has none", () => {
    expect(contentLabel(bytes({ type: "thinking", thinking: "", signature: "s" }), "reasoning")).toBeNull();
    expect(contentLabel(bytes({ type: "text", text: "  " }), "user")).toBeNull();
  });
});
