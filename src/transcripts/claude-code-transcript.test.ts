import { expect, test } from "vitest";
import { readClaudeCode } from "./claude-code-transcript.ts";
import { SessionGatherer } from "./session-gatherer.ts";
import type { RecordedTurn } from "./session-recording.ts";

type Line = Readonly<Record<string, unknown>>;

/** `2<1` is a line with its parent; `1` alone is a root. */
function linkOf(link: string): Line {
  const [uuid, parentUuid = null] = link.split("<");
  return { uuid, parentUuid, sessionId: "s" };
}
const userLine = (link: string, content: unknown, more: Line = {}): Line => ({
  type: "user",
  ...linkOf(link),
  message: { role: "user", content },
  ...more,
});
/** `3<2 a` is a line of the answer `a`. */
function answerLine(link: string, block: Line, more: Line = {}): Line {
  const [line = "", id] = link.split(" ");
  const usage = { input_tokens: 1, output_tokens: 2 };
  const message = { id, role: "assistant", model: "m", content: [block], usage };
  return { type: "assistant", ...linkOf(line), timestamp: "2026-01-01T00:00:00.000Z", message, ...more };
}
const text = (content: string): Line => ({ type: "text", text: content });
const call = (id: string): Line => ({ type: "tool_use", id, name: "Read", input: {} });
const result = (id: string): Line => ({ type: "tool_result", tool_use_id: id, content: `result ${id}` });

function read(lines: readonly Line[], name = "s.jsonl") {
  const transcript = readClaudeCode({ name, text: lines.map((line) => JSON.stringify(line)).join("\n") });
  const gathered = transcript === null ? null : new SessionGatherer().gather([transcript]);
  return { transcript, recording: gathered?.recording, turns: gathered?.recording.turns ?? [] };
}

/** For each request how many messages it kept, and its new texts. */
function shape(turns: readonly RecordedTurn[]): readonly string[] {
  return turns.map(({ k, c }) => `${k ?? "all"} ${JSON.stringify(c.map(({ content }) => content))}`);
}

test("blocks of one answer in several lines are one answer, with its last usage", () => {
  const { turns } = read([
    userLine("1", "hello"),
    answerLine("2<1 a", text("one")),
    answerLine("3<2 a", text("two")),
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

test("the results of parallel calls are all read, although only the last has a successor", () => {
  const { turns } = read([
    userLine("1", "hello"),
    answerLine("2<1 a", call("x")),
    answerLine("3<2 a", call("y")),
    userLine("4<2", [result("x")]),
    userLine("5<3", [result("y")]),
    answerLine("6<5 b", text("done")),
  ]);
  expect(turns[1]?.c).toEqual([{ role: "user", content: [result("x"), result("y")] }]);
});

test("a branch from an earlier prompt keeps the messages before it", () => {
  const { turns } = read([
    userLine("1", "one"),
    answerLine("2<1 a", text("A")),
    userLine("3<2", "two"),
    answerLine("4<3 b", text("B")),
    userLine("5<2", "other"),
    answerLine("6<5 c", text("C")),
  ]);
  expect(shape(turns)).toEqual(['all ["one"]', 'all ["two"]', '2 ["other"]']);
});

test("a compaction starts a new history", () => {
  const { turns } = read([
    userLine("1", "one"),
    answerLine("2<1 a", text("A")),
    { type: "system", subtype: "compact_boundary", uuid: "3", parentUuid: null, sessionId: "s" },
    userLine("4<3", "a summary", { isCompactSummary: true }),
    answerLine("5<4 b", text("B")),
  ]);
  expect(shape(turns)).toEqual(['all ["one"]', '0 ["a summary"]']);
});

test("agents in the same file are separate streams", () => {
  const side = { isSidechain: true };
  const { recording } = read([
    userLine("1", "one"),
    answerLine("2<1 a", text("A")),
    userLine("3", "look", side),
    answerLine("4<3 b", text("B"), side),
  ]);
  expect(recording?.turns).toHaveLength(1);
  expect(recording?.streams?.map(({ turns }) => shape(turns))).toEqual([['all ["look"]']]);
});

test("an answer that the client made up is skipped", () => {
  const { turns } = read([
    userLine("1", "one"),
    answerLine("2<1 e", text("API Error"), { isApiErrorMessage: true }),
    userLine("3<2", "again"),
    answerLine("4<3 b", text("B")),
  ]);
  expect(shape(turns)).toEqual(['all [[{"type":"text","text":"one"},{"type":"text","text":"again"}]]']);
});

test("unreadable lines are counted, with the first line number", () => {
  const lines = [userLine("1", "one"), answerLine("2<9 a", text("A")), { type: "new" }, { type: "new" }];
  const { transcript } = read(lines);
  expect(transcript?.problems).toEqual([
    { file: "s.jsonl", problem: 'lines of a kind nobody knows: "new"', count: 2, line: 3 },
    { file: "s.jsonl", problem: "lines that go on from one that is not there", count: 1, line: 2 },
  ]);
});

test("a file of an agent belongs to the session that its lines name", () => {
  const side = { isSidechain: true, agentId: "a1" };
  const lines = [userLine("1", "look", side), answerLine("2<1 b", text("B"), side)];
  expect(read(lines, "s/subagents/agent-a1.jsonl").transcript).toMatchObject({ session: "a1", parent: "s" });
});
