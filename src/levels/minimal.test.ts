import { expect, test } from "vitest";
import type { Json } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";
import { minimal } from "./minimal.ts";

type Case = {
  readonly text: string;
  readonly tool?: string;
  readonly input?: Json;
  readonly kind?: BlockKind;
  readonly line: string;
};

const hits = "src/a.ts:1: load\nsrc/b.ts:2: load\nsrc/b.ts:9: load";
const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d";

test.each<Case>([
  {
    text: "a\nb",
    tool: "Read",
    input: { file_path: "src/a.ts" },
    line: "Read src/a.ts: 2 lines, typescript",
  },
  { text: hits, tool: "Grep", input: { pattern: "load" }, line: "Grep load: 3 hits" },
  { text: diff, tool: "Bash", input: { command: "git diff" }, line: "git diff: diff of 1 file, +2 -1" },
  {
    text: "running\n 3 failed, 120 passed",
    input: { command: "cd app && npm test" },
    line: "npm test: 2 lines, 3 failed, 120 passed",
  },
  {
    text: "building\nerror: no such file",
    input: { cmd: "make all" },
    line: "make all: 2 lines, error: no such file",
  },
  {
    text: "Exit code 1\n--- FAIL: TestLoad (0.00s)\n--- FAIL: TestSave (0.00s)\nok  pkg/a",
    input: { command: "go test ./..." },
    line: "go test ./...: 4 lines, 2 failed, exit code 1",
  },
  { text: '{"a":1}', tool: "fetch_order", line: "fetch_order: 1 line, json" },
  {
    text: "Please do not touch the tests.",
    kind: "user",
    line: 'user: 1 line, "Please do not touch the tests."',
  },
  { text: "", tool: "Bash", input: { command: "true" }, line: "true: 0 lines" },
])("$line", ({ text, tool = null, input = null, kind = "tool-result", line }) => {
  expect(minimal({ kind, text, tool, input })).toBe(line);
});

test("of a long path the last parts stay", () => {
  const input = { path: "one/very/long/way/down/to/the/place/where/files/are/kept/store.go" };
  expect(minimal({ kind: "tool-result", text: "a", tool: "Read", input })).toMatch(/kept\/store\.go: 1 line/);
});

test("it is one line, whatever the call looks like", () => {
  const input = { command: "cat <<EOF\nfirst\nsecond\nEOF" };
  expect(minimal({ kind: "tool-result", text: "x\ny", tool: "Bash", input })).not.toContain("\n");
});
