import { expect, test } from "vitest";
import { readableText } from "./readable-text.ts";

test.each([
  ["user", '{"type":"text","text":"say\\nhello"}', "say\nhello"],
  ["reasoning", '{"type":"thinking","thinking":"hm","signature":"c2ln"}', "hm"],
  ["reasoning", '{"type":"thinking","thinking":"","signature":"c2ln"}', "(only its model can read it)"],
  ["reasoning", '{"type":"redacted_thinking","data":"c2ln"}', "(only its model can read it)"],
  ["tool-call", '{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}}', 'read({"path":"a"})'],
  ["tool-result", '{"type":"tool_result","tool_use_id":"t","content":"done"}', "done"],
  [
    "tool-result",
    '{"type":"tool_result","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}',
    "one\ntwo",
  ],
  [
    "media",
    '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}',
    "(image image/png, 8 characters of base64)",
  ],
  ["user", '"a bare string"', "a bare string"],
  ["user", "no json at all", "no json at all"],
] as const)("a %s block %s reads as %j", (kind, text, readable) => {
  const row = { kind, form: "anthropic" } as const;
  expect(readableText({ row, content: { text, encoding: "utf-8" } }, { isMasked: true })).toBe(readable);
  expect(readableText({ row, content: { text, encoding: "base64" } }, { isMasked: true })).toBe(text);
});

test("missing content is named", () => {
  expect(readableText({ row: { kind: "user", form: "anthropic" }, content: null }, { isMasked: true })).toBe(
    "(no longer stored)",
  );
});

test("a secret that only shows in the readable text is masked", () => {
  const secret = `sk-ant-${"api03-aB3".repeat(6)}`;
  const text = `{"type":"text","text":"\\u0073${secret.slice(1)} is mine"}`;
  const block = { row: { kind: "user", form: "anthropic" }, content: { text, encoding: "utf-8" } } as const;
  expect(readableText(block, { isMasked: true })).toBe("[masked] is mine");
  expect(readableText(block, { isMasked: false })).toBe(`${secret} is mine`);
});
