import { expect, test } from "vitest";
import { readClaudeCode } from "./claude-code.ts";
import { Gatherer } from "./gather.ts";
import type { RecordedTurn } from "./recording.ts";

type Line = Readonly<Record<string, unknown>>;

/** `2<1`: a line and the one it goes on from; `1` alone begins. */
function linkOf(link: string): Line {
  const [uuid, parentUuid = null] = link.split("<");
  return { uuid, parentUuid, sessionId: "s" };
}
const said = (link: string, content: unknown, more: Line = {}): Line => ({
  type: "user",
  ...linkOf(link),
  message: { role: "user", content },
  ...more,
});
/** `3<2 a`: a line of the answer `a`. */
function answered(link: string, block: Line, more: Line = {}): Line {
  const [line = "", id] = link.split(" ");
  const usage = { input_tokens: 1, output_tokens: 2 };
  const message = { id, role: "assistant", model: "m", content: [block], usage };
  return { type: "assistant", ...linkOf(line), timestamp: "2026-01-01T00:00:00.000Z", message, ...more };
}
const text = (words: string): Line => ({ type: "text", text: words });
const call = (id: string): Line => ({ type: "tool_use", id, name: "Read", input: {} });
const result = (id: string): Line => ({ type: "tool_result", tool_use_id: id, content: `result ${id}` });

function read(lines: readonly Line[], name = "s.jsonl") {
  const transcript = readClaudeCode({ name, text: lines.map((line) => JSON.stringify(line)).join("\n") });
  const gathered = transcript === null ? null : new Gatherer().gather([transcript]);
  return { transcript, recording: gathered?.recording, turns: gathered?.recording.turns ?? [] };
}

/** What each request kept, and what it said anew. */
function shape(turns: readonly RecordedTurn[]): readonly string[] {
  return turns.map(({ k, c }) => `${k ?? "all"} ${JSON.stringify(c.map(({ content }) => content))}`);
}

test("blocks of one answer in several lines are one answer, with its last usage", () => {
  const { turns } = read([
    said("1", "hello"),
    answered("2<1 a", text("one")),
    answered("3<2 a", text("two")),
  ]);
  expect(turns).toHaveLength(1);
  expect(turns[0]?.a).toEqual([text("one"), text("two")]);
  expect(turns[0]?.m).toEqual({
    id: "a",
    model: "m",
    t: "2026-01-01T00:00:00.000Z",
    usage: { in: 1, cr: 0, cw: 0, out: 2 },
  });
});

test("results of calls made together are all there, although only the last leads on", () => {
  const { turns } = read([
    said("1", "hello"),
    answered("2<1 a", call("x")),
    answered("3<2 a", call("y")),
    said("4<2", [result("x")]),
    said("5<3", [result("y")]),
    answered("6<5 b", text("done")),
  ]);
  expect(turns[1]?.c).toEqual([{ role: "user", content: [result("x"), result("y")] }]);
});

test("who goes back to an earlier prompt keeps what was before it", () => {
  const { turns } = read([
    said("1", "one"),
    answered("2<1 a", text("A")),
    said("3<2", "two"),
    answered("4<3 b", text("B")),
    said("5<2", "other"),
    answered("6<5 c", text("C")),
  ]);
  expect(shape(turns)).toEqual(['all ["one"]', 'all ["two"]', '2 ["other"]']);
});

test("a compaction begins anew", () => {
  const { turns } = read([
    said("1", "one"),
    answered("2<1 a", text("A")),
    { type: "system", subtype: "compact_boundary", uuid: "3", parentUuid: null, sessionId: "s" },
    said("4<3", "a summary", { isCompactSummary: true }),
    answered("5<4 b", text("B")),
  ]);
  expect(shape(turns)).toEqual(['all ["one"]', '0 ["a summary"]']);
});

test("agents in the same file are streams of their own", () => {
  const side = { isSidechain: true };
  const { recording } = read([
    said("1", "one"),
    answered("2<1 a", text("A")),
    said("3", "look", side),
    answered("4<3 b", text("B"), side),
  ]);
  expect(recording?.turns).toHaveLength(1);
  expect(recording?.streams?.map(({ turns }) => shape(turns))).toEqual([['all ["look"]']]);
});

test("an answer that the client made up is none, and what comes after it goes on", () => {
  const { turns } = read([
    said("1", "one"),
    answered("2<1 e", text("API Error"), { isApiErrorMessage: true }),
    said("3<2", "again"),
    answered("4<3 b", text("B")),
  ]);
  expect(shape(turns)).toEqual(['all [[{"type":"text","text":"one"},{"type":"text","text":"again"}]]']);
});

test("what cannot be read is counted, with its first line", () => {
  const lines = [said("1", "one"), answered("2<9 a", text("A")), { type: "new" }, { type: "new" }];
  const { transcript } = read(lines);
  expect(transcript?.problems).toEqual([
    { file: "s.jsonl", problem: 'lines of a kind nobody knows: "new"', count: 2, line: 3 },
    { file: "s.jsonl", problem: "lines that go on from one that is not there", count: 1, line: 2 },
  ]);
});

test("a file of an agent belongs to the session that its lines name", () => {
  const side = { isSidechain: true, agentId: "a1" };
  const lines = [said("1", "look", side), answered("2<1 b", text("B"), side)];
  expect(read(lines, "s/subagents/agent-a1.jsonl").transcript).toMatchObject({ session: "a1", parent: "s" });
});
