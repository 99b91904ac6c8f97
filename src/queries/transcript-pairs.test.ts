import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TranscriptRow } from "./answers/context-answers.ts";
import { closePairs } from "./transcript-pairs.ts";

const text = (words: string) => ({ type: "text", text: words }) as const;
const call = (id: string) => ({ type: "call", id, name: "Read", input: {}, isExact: true }) as const;
const result = (callId: string) =>
  ({ type: "result", callId, parts: [text("found")], isError: false }) as const;
const user = (...content: TranscriptRow["content"]): TranscriptRow => ({ role: "user", content });
const model = (...content: TranscriptRow["content"]): TranscriptRow => ({ role: "assistant", content });

describe("a transcript", () => {
  it("keeps closed pairs in order", () => {
    const rows = [user(text("look")), model(text("I look"), call("a")), user(result("a"))];
    expect(closePairs(rows)).toEqual(rows);
  });

  it("joins neighbouring messages of one speaker, results first", () => {
    const rows = [user(text("look")), model(call("a")), user(text("and")), user(result("a"))];
    expect(closePairs(rows)).toEqual([user(text("look")), model(call("a")), user(result("a"), text("and"))]);
  });

  it("leaves out calls without results and results without calls", () => {
    const rows = [user(text("look"), result("z")), model(text("I look"), call("a"))];
    expect(closePairs(rows)).toEqual([user(text("look")), model(text("I look"))]);
  });

  it("alternates, is closed and begins with the user, for any input", () => {
    const part = fc.oneof(
      fc.constantFrom("hm", "so").map((words) => ["user", text(words)] as const),
      fc.constantFrom("hm", "so").map((words) => ["assistant", text(words)] as const),
      fc.constantFrom("a", "b", "c").map((id) => ["assistant", call(id)] as const),
      fc.constantFrom("a", "b", "c").map((id) => ["user", result(id)] as const),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const rows = closePairs(parts.map(([role, content]) => ({ role, content: [content] })));
        expect(rows.map(({ role }) => role)).toEqual(
          rows.map((_, at) => (at % 2 === 0 ? "user" : "assistant")),
        );
        for (const [at, { role, content }] of rows.entries()) {
          expect(content.length).toBeGreaterThan(0);
          const called = idsIn(content, "id");
          if (role === "assistant")
            expect(idsIn(rows[at + 1]?.content ?? [], "callId")).toEqual(expect.arrayContaining(called));
          else
            expect(idsIn(rows[at - 1]?.content ?? [], "id")).toEqual(
              expect.arrayContaining(idsIn(content, "callId")),
            );
        }
      }),
    );
  });
});

function idsIn(content: TranscriptRow["content"], name: "id" | "callId"): string[] {
  return content.flatMap((part) => {
    const id = (part as Readonly<Record<string, unknown>>)[name];
    return typeof id === "string" ? [id] : [];
  });
}
