import { describe, expect, test } from "vitest";
import type { Json } from "../base/index.ts";
import { minimal } from "./minimal.ts";
import type { Source } from "./source.ts";
import { trimInput } from "./trim-input.ts";
import { trimText } from "./trim-text.ts";

function result(text: string, tool: string | null = null, input: Json | null = null): Source {
  return { kind: "tool-result", text, tool, input };
}

function log(lines: number): string {
  const at = (line: number) =>
    line === 70 ? "ERROR cannot reach db-primary" : `step ${line % 7} of the usual work is done`;
  return Array.from({ length: lines }, (_, line) => at(line)).join("\n");
}

describe("trimmed", () => {
  test("says null for a short text", () => {
    expect(trimText(result("one\ntwo\nthree"))).toBeNull();
  });

  test("keeps the line that went wrong, and says how much is missing", () => {
    const trimmed = trimText(result(log(200))) ?? "";
    expect(trimmed).toContain("ERROR cannot reach db-primary");
    expect(trimmed).toMatch(/\[…\d+ lines left out\]/);
    expect(trimmed.length).toBeLessThan(log(200).length / 2);
  });
});

describe("trimmedInput", () => {
  test("trims long strings and touches nothing else", () => {
    const input = { path: "src/a.ts", content: log(200), limits: [1, null, true] };
    const trimmed = trimInput(input) as typeof input;
    expect({ ...trimmed, content: "" }).toEqual({ ...input, content: "" });
    expect(trimmed.content.length).toBeLessThan(input.content.length / 2);
  });

  test("keeps a command a command: its first line, and where the text in it begins and ends", () => {
    const command = `cat > notes.txt <<'EOF'\n${log(200)}\nEOF\nnpm test`;
    const { command: trimmed } = trimInput({ command }) as { command: string };
    for (const line of ["cat > notes.txt <<'EOF'", "EOF", "npm test"])
      expect(trimmed.split("\n")).toContain(line);
  });

  test("reads a string as what it goes into", () => {
    const body = Array.from({ length: 60 }, (_, line) => `  step(${line % 4});`).join("\n");
    const edits = [{ new_string: `function openStore() {\n${body}\n}\nfunction closeStore() {\n${body}\n}` }];
    const trimmed = JSON.stringify(trimInput({ file_path: "src/a.ts", edits }));
    expect(trimmed).toContain("function closeStore() {");
  });

  test("leaves what is nested too deep as it is", () => {
    let deep: Json = log(200);
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
    expect(trimInput(deep)).toBeNull();
  });

  test("says null if every string is short", () => {
    expect(trimInput({ command: "ls", depth: 3 })).toBeNull();
  });
});

describe("minimal", () => {
  test("is one line that names the call and the size", () => {
    expect(minimal(result("a\nb", "Read", { file_path: "src/a.ts" }))).toBe(
      "Read src/a.ts: 2 lines, typescript",
    );
  });
});
