import { expect, test } from "vitest";
import { Gatherer } from "./gather.ts";
import { readTranscript } from "./read.ts";

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
  return transcript === null ? [] : (new Gatherer().gather([transcript])?.recording.turns ?? []);
}

test("a message that is written again replaces what was written of it before", () => {
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

test("results lie with their calls, and are sent with the next request", () => {
  const result = [{ functionResponse: { id: "c", name: "read_file", response: { output: "words" } } }];
  const toolCalls = [{ id: "c", name: "read_file", args: { path: "a" }, result, status: "success" }];
  const found = turns([user("u", "read it"), model("g1", { toolCalls }), model("g2", { content: "done" })]);
  expect(found[1]?.c).toEqual([
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "words" }] },
  ]);
});

test("who rewinds goes on from before the message that is named", () => {
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

test("what the program tells its user is not told to the model", () => {
  const found = turns([
    user("u", "one"),
    { id: "i", type: "info", content: "update" },
    model("g", { content: "A" }),
  ]);
  expect(found[0]?.c).toEqual([{ role: "user", content: "one" }]);
});
