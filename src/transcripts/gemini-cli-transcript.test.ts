import { expect, test } from "vitest";
import { readTranscript } from "./read-transcript.ts";
import { SessionGatherer } from "./session-gatherer.ts";

const head = { sessionId: "s", projectHash: "h", startTime: "2026-01-01T00:00:00Z", kind: "main" };
const user = (id: string, content: unknown) => ({ id, type: "user", content });
const model = (id: string, more: object) => ({
  id,
  type: "gemini",
  model: "gemini-3-pro",
  content: "",
  ...more,
});

function turns(lines: readonly object[]) {
  const text = [head, ...lines].map((line) => JSON.stringify(line)).join("\n");
  const transcript = readTranscript({ name: "session-1.jsonl", text });
  expect(transcript?.client).toBe("gemini-cli");
  return transcript === null ? [] : (new SessionGatherer().gather([transcript])?.recording.turns ?? []);
}

test("a message that is written again replaces its earlier form", () => {
  const tokens = { input: 900, output: 60, cached: 800, thoughts: 20, tool: 0, total: 980 };
  const found = turns([
    user("u", [{ text: "hello" }]),
    model("g", { content: "ans", tokens: null }),
    model("g", { content: "answer", tokens }),
    { $set: { lastUpdated: "2026-01-01T00:00:06Z" } },
  ]);
  expect(found).toHaveLength(1);
  expect(found[0]?.a).toEqual([{ type: "text", text: "answer" }]);
  expect(found[0]?.m?.usage).toEqual({ in: 100, cr: 800, cw: 0, out: 80 });
});

test("results are stored with their calls and sent with the next request", () => {
  const result = [{ functionResponse: { id: "c", name: "read_file", response: { output: "words" } } }];
  const toolCalls = [{ id: "c", name: "read_file", args: { path: "a" }, result, status: "success" }];
  const found = turns([user("u", "read it"), model("g1", { toolCalls }), model("g2", { content: "done" })]);
  expect(found[1]?.c).toEqual([
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "words" }] },
  ]);
});

test("a rewind continues before the named message", () => {
  const found = turns([
    user("u1", "one"),
    model("g1", { content: "A" }),
    user("u2", "two"),
    model("g2", { content: "B" }),
    { $rewindTo: "u2" },
    user("u3", "three"),
    model("g3", { content: "C" }),
  ]);
  expect(found.map(({ k }) => k)).toEqual([undefined, undefined, 2]);
});

test("messages to the user are not part of a request", () => {
  const found = turns([
    user("u", "one"),
    { id: "i", type: "info", content: "update" },
    model("g", { content: "A" }),
  ]);
  expect(found[0]?.c).toEqual([{ role: "user", content: "one" }]);
});
