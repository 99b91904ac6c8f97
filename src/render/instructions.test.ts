import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { nonce } from "../../test/support/render-facts.ts";
import { instructionPoints, instructions } from "./instructions.ts";

describe("the instructions", () => {
  it.each(instructionPoints.map(({ id, pattern }) => [id, pattern] as const))("say it: %s", (_, pattern) => {
    expect(instructions(nonce)).toMatch(pattern);
  });

  it("have the three uses of metadata among their points, each once", () => {
    const ids = instructionPoints.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["reference-by-id", "monitor-ttl", "reasoning-recovery"]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("are short, and the same for one nonce", () => {
    expect(o200k(instructions(nonce))).toBeLessThanOrEqual(300);
    expect(instructions(nonce)).toBe(instructions(nonce));
    expect(instructions("zz99")).toBe(instructions(nonce).replaceAll(nonce, "zz99"));
  });

  it("name no tool: they hold also where the model has none of ours", () => {
    expect(instructions(nonce)).not.toMatch(/aperture_|@\w+\(/);
  });
});
