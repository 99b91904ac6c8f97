import { describe, expect, test } from "vitest";
import { estimateText } from "./estimate.ts";
import { TokenCounter, unitTokens } from "./unit-tokens.ts";

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
  test("are those of its text and a little overhead", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(40);
    const tokens = unitTokens({ bytes: bytes({ type: "text", text }), kind: "user" }, model);
    const alone = estimateText(text, model);
    expect(tokens).toBeGreaterThan(alone);
    expect(tokens).toBeLessThan(alone + 20);
  });

  test("of a long text are sampled and close to the full count", () => {
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

  test("of reasoning are those of its text, or follow from its signature if the text is hidden", () => {
    const signature = "s".repeat(4_000);
    const visible = bytes({
      type: "thinking",
      thinking: "I should look at the file first. ".repeat(10),
      signature,
    });
    const hidden = bytes({ type: "thinking", thinking: "", signature });
    expect(unitTokens({ bytes: visible, kind: "reasoning" }, model)).toBeLessThan(200);
    expect(unitTokens({ bytes: hidden, kind: "reasoning" }, model)).toBeGreaterThan(200);
  });

  test("of a large unit grow with its length", () => {
    const [middling, large] = [100_000, 10_000_000].map((length) => result("x y ".repeat(length / 4)));
    const tokens = (unit: Uint8Array = new Uint8Array()): number =>
      unitTokens({ bytes: unit, kind: "tool-result" }, model);
    expect(tokens(large) / tokens(middling)).toBeCloseTo(100, -1);
  });
});

describe("a token counter", () => {
  const source = { type: "base64", media_type: "image/png", data: png(1000, 1000) };
  const image = { bytes: bytes({ type: "image", source }), kind: "media" } as const;
  const shot = { bytes: result([{ type: "image", source }]), kind: "tool-result" } as const;
  const texts = Array.from({ length: 60 }, (_, at) => ({
    bytes: result(`line ${at} `.repeat(400)),
    kind: "tool-result" as const,
  }));

  test("estimates by length after its limit, but never an image", () => {
    const counter = new TokenCounter(model, 1);
    const counts = texts.map((unit) => counter.count(unit));
    const [first = 0, last = 0] = [counts[0], counts.at(-1)];
    expect(Math.abs(last / first - 1)).toBeLessThan(0.2);
    for (const unit of [image, shot]) expect(counter.count(unit)).toBe(unitTokens(unit, model));
  });

  test("does not learn the length of texts from an image", () => {
    const [plain, spoiled] = [new TokenCounter(model, 1), new TokenCounter(model, 1)];
    spoiled.count(shot);
    for (const unit of texts) for (const counter of [plain, spoiled]) counter.count(unit);
    const [unit] = texts;
    if (unit !== undefined) expect(spoiled.count(unit)).toBeLessThan(plain.count(unit) * 1.2);
    if (unit !== undefined) expect(spoiled.count(unit)).toBeGreaterThan(plain.count(unit) * 0.8);
  });
});

describe("other forms of JSON", () => {
  test("an escaped letter counts as the letter", () => {
    const plain = JSON.stringify({ type: "text", text: "河".repeat(500) });
    const escaped = plain.replace(/河/g, "\\u6cb3");
    const [letters, codes] = [plain, escaped].map((json) =>
      unitTokens({ bytes: Buffer.from(json), kind: "user" }, model),
    );
    expect(Math.abs((codes ?? 0) / (letters ?? 1) - 1)).toBeLessThan(0.15);
  });

  test("an image is found in spaced JSON, and a call that mentions base64 is no image", () => {
    const json = `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "${png(1000, 1000)}"}}`;
    expect(unitTokens({ bytes: Buffer.from(json), kind: "media" }, model)).toBeGreaterThan(1_000);
    const call = bytes({
      type: "tool_use",
      input: { encoding: "base64", text: "some words ".repeat(1_000) },
    });
    expect(unitTokens({ bytes: call, kind: "tool-call" }, model)).toBeGreaterThan(1_500);
  });
});
