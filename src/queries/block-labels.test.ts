import { describe, expect, it } from "vitest";
import { contentLabel } from "./block-labels.ts";

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe("the label of a block", () => {
  it("of a call is its tool and arguments", () => {
    const call = {
      type: "tool_use",
      id: "c1",
      name: "Read",
      input: { file_path: "src/auth/token.ts", limit: 20 },
    };
    expect(contentLabel(bytes(call), "tool-call")).toBe("Read src/auth/token.ts, 20");
  });

  it("of an offered tool is its name and description", () => {
    const tool = { name: "Read", description: "Reads a file.", input_schema: { type: "object" } };
    expect(contentLabel(bytes(tool), "system")).toBe("tool Read: Reads a file.");
    expect(contentLabel(bytes({ name: "Read", input_schema: {} }), "system")).toBe("tool Read");
  });

  it("of text is one line, cut between characters", () => {
    expect(contentLabel(bytes({ type: "text", text: "\n  Find out\n\twhy. " }), "user")).toBe(
      "Find out why.",
    );
    const long = contentLabel(bytes({ type: "text", text: "𝒳".repeat(90) }), "user");
    expect(long).toMatch(/^(?:𝒳)+…$/u);
    expect(long?.length).toBeLessThanOrEqual(100);
  });

  it("is null without text", () => {
    expect(contentLabel(bytes({ type: "thinking", thinking: "", signature: "s" }), "reasoning")).toBeNull();
    expect(contentLabel(bytes({ type: "text", text: "  " }), "user")).toBeNull();
  });
});
