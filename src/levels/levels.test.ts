import { describe, expect, test } from "vitest";
import type { Json } from "../base/index.ts";
import { Levels } from "./levels.ts";
import type { Source } from "./source.ts";

const levels = new Levels();

function result(text: string, tool: string | null = null, input: Json | null = null): Source {
  return { kind: "tool-result", text, tool, input };
}

function log(lines: number): string {
  const at = (line: number) =>
    line === 70 ? "ERROR cannot reach db-primary" : `step ${line % 7} of the usual work is done`;
  return Array.from({ length: lines }, (_, line) => at(line)).join("\n");
}

describe("trimmed", () => {
  test("says null for a short text", async () => {
    expect(await levels.trimmed(result("one\ntwo\nthree"))).toBeNull();
  });

  test("keeps the line that went wrong, and says how much is missing", async () => {
    const trimmed = (await levels.trimmed(result(log(200)))) ?? "";
    expect(trimmed).toContain("ERROR cannot reach db-primary");
    expect(trimmed).toMatch(/\[…\d+ lines left out\]/);
    expect(trimmed.length).toBeLessThan(log(200).length / 2);
  });
});

describe("trimmedInput", () => {
  test("trims long strings and touches nothing else", async () => {
    const input = { path: "src/a.ts", content: log(200), limits: [1, null, true] };
    const trimmed = (await levels.trimmedInput(input)) as typeof input;
    expect({ ...trimmed, content: "" }).toEqual({ ...input, content: "" });
    expect(trimmed.content.length).toBeLessThan(input.content.length / 2);
  });

  test("says null if every string is short", async () => {
    expect(await levels.trimmedInput({ command: "ls", depth: 3 })).toBeNull();
  });
});

describe("minimal", () => {
  test("is one line that names the call and the size", () => {
    expect(levels.minimal(result("a\nb", "Read", { file_path: "src/a.ts" }))).toBe(
      "Read src/a.ts: 2 lines, typescript",
    );
  });
});
