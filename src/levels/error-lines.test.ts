import { expect, test } from "vitest";
import { isErrorLine } from "./error-lines.ts";

test.each([
  "error: cannot find module",
  "src/a.ts(3,4): error TS2345: not assignable",
  "error[E0308]: mismatched types",
  "--- FAIL: TestLoad (0.00s)",
  "3 failed, 120 passed",
  "panic: runtime error: index out of range",
  "Traceback (most recent call last):",
  "ValueError: invalid literal",
  "Process exited with code 2",
  "Exit code 1",
])("a report is an error line everywhere: %s", (line) => {
  expect([isErrorLine(line, true), isErrorLine(line, false)]).toEqual([true, true]);
});

test.each([
  'return fmt.Errorf("failed to open: %w", err)',
  "func load(path string) (*File, error) {",
  "// fails if there is no such file",
])("code that speaks of errors has none, unless a program printed it: %s", (line) => {
  expect([isErrorLine(line, true), isErrorLine(line, false)]).toEqual([false, true]);
});

test.each([
  "ok  \tpkg/store\t0.3s",
  "GET /items status=200 12ms",
  "Process exited with code 0",
  "terror",
  "",
])("nothing went wrong: %s", (line) => {
  expect([isErrorLine(line, true), isErrorLine(line, false)]).toEqual([false, false]);
});
