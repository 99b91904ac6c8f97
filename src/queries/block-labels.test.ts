import { describe, expect, it } from "vitest";
import type { Part } from "../content/index.ts";
import { readPart } from "../protocols/index.ts";
import { contentLabel } from "./block-labels.ts";

const part = (value: unknown): Part => readPart(Buffer.from(JSON.stringify(value)), { form: "anthropic" });

describe("the label of a block", () => {
  it("of a call is its tool and arguments", () => {
    const call = {
      type: "tool_use",
      id: "c1",
      name: "Read",
      input: { file_path: "src/auth/token.ts", limit: 20 },
    };
    expect(contentLabel(part(call))).toBe("Read src/auth/token.ts, 20");
  });

  it("of an offered tool is its name and description", () => {
    const tool = { name: "Read", description: "Reads a file.", input_schema: { type: "object" } };
    expect(contentLabel(part(tool))).toBe("tool Read: Reads a file.");
    expect(contentLabel(part({ name: "Read", input_schema: {} }))).toBe("tool Read");
  });

  it("of text is one line, cut between characters", () => {
    expect(contentLabel(part({ type: "text", text: "\n  Find out\n\twhy. " }))).toBe("Find out why.");
    const long = contentLabel(part({ type: "text", text: "𝒳".repeat(90) }));
    expect(long).toMatch(/^(?:𝒳)+…$/u);
    expect(long?.length).toBeLessThanOrEqual(100);
  });

  it("is null without text", () => {
    expect(contentLabel(part({ type: "thinking", thinking: "", signature: "s" }))).toBeNull();
    expect(contentLabel(part({ type: "text", text: "  " }))).toBeNull();
  });
});
