import { expect, test } from "vitest";
import type { Json } from "../../base/index.ts";
import { trimInput } from "./trim-input.ts";

function log(lines: number): string {
  const at = (line: number) =>
    line === 70 ? "ERROR cannot reach db-primary" : `step ${line % 7} of the usual work is done`;
  return Array.from({ length: lines }, (_, line) => at(line)).join("\n");
}

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
