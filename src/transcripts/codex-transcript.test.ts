import { expect, test } from "vitest";
import { readCodex } from "./codex-transcript.ts";
import { SessionGatherer } from "./session-gatherer.ts";

type Line = Readonly<Record<string, unknown>>;

const meta = { id: "s", cwd: "/p", base_instructions: { text: "be good" } };
const item = (payload: Line): Line => ({ timestamp: "2026-01-01T00:00:00Z", type: "response_item", payload });
const user = (text: string): Line =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const model = (text: string): Line =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const counted = (input: number, total: number): Line => ({
  type: "event_msg",
  payload: {
    type: "token_count",
    info: {
      total_token_usage: { input_tokens: total },
      last_token_usage: { input_tokens: input, cached_input_tokens: 10, output_tokens: 3 },
    },
  },
});

function read(lines: readonly Line[], first: Line = { type: "session_meta", payload: meta }) {
  const text = [first, ...lines].map((line) => JSON.stringify(line)).join("\n");
  const transcript = readCodex({ name: "r.jsonl", text });
  return {
    transcript,
    recording: transcript === null ? null : new SessionGatherer().gather([transcript])?.recording,
  };
}

test("consecutive items of the model are one answer, with the usage that follows", () => {
  const call = { type: "function_call", name: "shell", arguments: '{"cmd":"ls"}', call_id: "c" };
  const { recording } = read([
    { type: "turn_context", payload: { model: "gpt-5.4" } },
    user("hello"),
    item({ type: "reasoning", summary: [], encrypted_content: "x" }),
    item(call),
    counted(30, 30),
    counted(30, 30),
    item({ type: "function_call_output", call_id: "c", output: "a.ts" }),
    model("done"),
    counted(50, 80),
  ]);
  expect(recording?.system).toBe("be good");
  expect(recording?.turns.map(({ a, m }) => [a.map(({ type }) => type), m?.usage?.in, m?.model])).toEqual([
    [["thinking", "tool_use"], 20, "gpt-5.4"],
    [["text"], 40, "gpt-5.4"],
  ]);
  expect(recording?.turns[1]?.c).toEqual([
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "a.ts" }] },
  ]);
});

test("a compaction leaves the history it names", () => {
  const kept = [{ type: "message", role: "user", content: [{ type: "input_text", text: "summary" }] }];
  const { recording } = read([
    user("one"),
    model("A"),
    { type: "compacted", payload: { message: "", replacement_history: kept } },
    user("two"),
    model("B"),
  ]);
  expect(recording?.turns[1]).toMatchObject({ k: 0 });
  expect(JSON.stringify(recording?.turns[1]?.c)).toContain("summary");
});

test("a compaction without a history is guessed and reported as a problem", () => {
  const lines = [user("one"), model("A"), { type: "compacted", payload: { message: "short" } }, model("B")];
  const { transcript, recording } = read(lines);
  expect(JSON.stringify(recording?.turns[1]?.c)).toMatch(/one.*short/);
  expect(transcript?.problems).toEqual([expect.objectContaining({ count: 1 })]);
});

test("a rolled back prompt is dropped with everything after it", () => {
  const { recording } = read([
    user("one"),
    model("A"),
    user("two"),
    model("B"),
    { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
    user("three"),
    model("C"),
  ]);
  expect(recording?.turns.map(({ k }) => k)).toEqual([undefined, undefined, 2]);
});

test("the oldest files are read without wrappers", () => {
  const first = { id: "s", timestamp: "2025-05-01T00:00:00Z", instructions: null };
  const bare = [user("one"), model("A")].map(({ payload }) => payload as Line);
  expect(read(bare, first).recording?.turns).toHaveLength(1);
});

test("an agent names the thread that started it", () => {
  const source = { subagent: { thread_spawn: { parent_thread_id: "p", depth: 1 } } };
  const first = { type: "session_meta", payload: { ...meta, source } };
  expect(read([user("one"), model("A")], first).transcript).toMatchObject({ session: "s", parent: "p" });
});
