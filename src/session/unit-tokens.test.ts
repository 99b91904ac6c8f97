import { describe, expect, test } from "vitest";
import { estimateText } from "../tokens/index.ts";
import { unitTokens } from "./unit-tokens.ts";

const model = "claude-opus-5-5";
const bytes = (block: object): Uint8Array => Buffer.from(JSON.stringify(block));
const result = (content: unknown) => bytes({ type: "tool_result", tool_use_id: "c", content });
const png = (width: number, height: number): string => {
  const head = Buffer.alloc(24);
  head.writeUInt32BE(0x89504e47, 0);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.alloc(300_000)]).toString("base64");
};

describe("the tokens of a unit", () => {
  test("are those of its text, and a little for what stands around it", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(40);
    const tokens = unitTokens({ bytes: bytes({ type: "text", text }), kind: "user" }, model);
    const alone = estimateText(text, model);
    expect(tokens).toBeGreaterThan(alone);
    expect(tokens).toBeLessThan(alone + 20);
  });

  test("are sampled where it is long, and near the whole count", () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, at) => `  const value${at} = read("src/file-${at}.ts");`,
    );
    const long = result(lines.join("\n"));
    const whole = estimateText(Buffer.from(long).toString(), model);
    const tokens = unitTokens({ bytes: long, kind: "tool-result" }, model);
    expect(Math.abs(tokens / whole - 1)).toBeLessThan(0.1);
  });

  test("of an image follow from its size, not from its bytes", () => {
    const source = (data: string) => ({ type: "base64", media_type: "image/png", data });
    const small = bytes({ type: "image", source: source(png(100, 100)) });
    const large = bytes({ type: "image", source: source(png(1000, 1000)) });
    const [few, many] = [small, large].map((unit) => unitTokens({ bytes: unit, kind: "media" }, model));
    expect(few).toBeLessThan(200);
    expect(many).toBeGreaterThan(1_000);
    expect(many).toBeLessThan(3_000);
    const both = result([{ type: "image", source: source(png(1000, 1000)) }]);
    expect(unitTokens({ bytes: both, kind: "tool-result" }, model)).toBeLessThan(3_000);
  });

  test("of reasoning are those of its text, or follow from its signature where that is kept back", () => {
    const signature = "s".repeat(4_000);
    const told = bytes({
      type: "thinking",
      thinking: "I should look at the file first. ".repeat(10),
      signature,
    });
    const kept = bytes({ type: "thinking", thinking: "", signature });
    expect(unitTokens({ bytes: told, kind: "reasoning" }, model)).toBeLessThan(200);
    expect(unitTokens({ bytes: kept, kind: "reasoning" }, model)).toBeGreaterThan(200);
  });

  test("take as long for a large unit as for a middling one", () => {
    const [middling, large] = [100_000, 10_000_000].map((length) => result("x y ".repeat(length / 4)));
    const timed = (unit: Uint8Array): number => {
      const start = performance.now();
      for (let round = 0; round < 20; round += 1) unitTokens({ bytes: unit, kind: "tool-result" }, model);
      return performance.now() - start;
    };
    timed(middling as Uint8Array);
    // To look for an image takes a moment.
    expect(timed(large as Uint8Array)).toBeLessThan(20 * timed(middling as Uint8Array) + 100);
  });
});
