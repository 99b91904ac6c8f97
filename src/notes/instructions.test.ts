import { describe, expect, it } from "vitest";
import { instructionPoints } from "../../test/support/instruction-points.ts";
import { o200k } from "../../test/support/o200k.ts";
import { nonce } from "../../test/support/render-facts.ts";
import { instructions, tellsTextCommands } from "./instructions.ts";

describe.each([
  ["with our tools", true],
  ["without our tools", false],
])("the instructions %s", (_, hasTools) => {
  const written = (mark = nonce): string => instructions(mark, { hasTools });

  it.each(instructionPoints.map(({ id, pattern }) => [id, pattern] as const))("say it: %s", (_, pattern) => {
    expect(written()).toMatch(pattern);
  });

  it("have the three uses of metadata among their points, each once", () => {
    const ids = instructionPoints.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["reference-by-id", "monitor-ttl", "reasoning-recovery"]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("are short, and the same for one nonce", () => {
    // With our tools together 900: that is tested where both are known.
    expect(o200k(written())).toBeLessThanOrEqual(hasTools ? 400 : 300);
    expect(written()).toBe(written());
    expect(written("zz99")).toBe(written().replaceAll(nonce, "zz99"));
  });

  it("name tools only where the model has them", () => {
    expect(/aperture_/.test(written())).toBe(hasTools);
  });
});

describe("the instructions for commands as text", () => {
  const written = instructions(nonce, { hasTools: false, hasTextCommands: true });

  it.each(instructionPoints.map(({ id, pattern }) => [id, pattern] as const))("say it: %s", (_, pattern) => {
    expect(written).toMatch(pattern);
  });

  it("are known again, and no others are taken for them", () => {
    expect(tellsTextCommands(written)).toBe(true);
    for (const hasTools of [true, false])
      expect(tellsTextCommands(instructions(nonce, { hasTools }))).toBe(false);
  });

  it("are short, name no tool, and are no commands themselves", () => {
    expect(o200k(written)).toBeLessThanOrEqual(550);
    expect(written).not.toContain("aperture_");
    expect(written.split("\n").filter((line) => line.startsWith("@"))).toEqual([]);
  });
});
