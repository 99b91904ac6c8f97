import { expect, test } from "vitest";
import type { Json } from "../base/index.ts";
import { type ContentType, detectContent } from "./detect-content.ts";

function typeOf(text: string, input: Json | null = null): ContentType {
  return detectContent({ kind: "tool-result", text, tool: null, input }).type;
}

const code = 'import { a } from "./a.ts";\n\nexport function load(id: string): A {\n  return a(id);\n}\n';
const prose = "The store keeps what it is given. It decides nothing.\nA reader asks for a block by its id.\n";

test.each<readonly [ContentType, string, Json | null]>([
  ["code", code, null],
  ["code", "anything", { file_path: "src/a.ts" }],
  ["code", "anything", { command: "sed -n '1,20p' src/a.py" }],
  ["prose", prose, null],
  ["prose", "anything", { path: "docs/guide.md" }],
  ["json", '{"a": [1, 2]}', null],
  ["diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c", null],
  ["hits", "src/a.ts:3:  load(a)\nsrc/b.ts:40:  load(b)\nsrc/b.ts-41-  next()", null],
  ["listing", "src\nsrc/a.ts\nsrc/b.ts\ntest/a.test.ts", null],
  ["html", "<!doctype html><html><body><p>Hello</p></body></html>", null],
  ["output", "ok  pkg/a 0.2s\nok  pkg/b 0.4s", { command: "go test ./..." }],
])("knows %s when it sees it", (type, text, input) => {
  expect(typeOf(text, input)).toBe(type);
});

test("what people say is prose, whatever it looks like", () => {
  expect(detectContent({ kind: "user", text: code, tool: null, input: null }).type).toBe("prose");
});

test("JSON that does not parse is something else", () => {
  expect(typeOf('{"a": [1, 2}')).not.toBe("json");
});

test.each([
  ["numbers of lines", "1→a\n2→b\n3→c\n4→d\n5→e", true],
  ["numbers with a tab", "10\ta\n11\tb\n12\tc\n13\td\n14\te", true],
  ["times of day", "12:01 a\n12:01 b\n12:02 c\n12:02 d\n12:03 e", false],
  ["nothing of the kind", "a\nb\nc\nd\ne", false],
])("sees that lines carry %s", (_, text, isNumbered) => {
  expect(detectContent({ kind: "tool-result", text, tool: null, input: null }).isNumbered).toBe(isNumbered);
});
