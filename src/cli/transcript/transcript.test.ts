import { describe, expect, it } from "vitest";
import type { TranscriptAnswer } from "../../queries/answers/index.ts";
import { claudeTranscript } from "./write-claude.ts";
import { codexTranscript } from "./write-codex.ts";
import { piTranscript } from "./write-pi.ts";
import { uuidOf } from "./written-transcript.ts";

const transcript: TranscriptAnswer = {
  session: "3f9a",
  seq: 12,
  stream: 1,
  client: "claude-code",
  model: "claude-opus-5-5",
  rows: [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>\nthe date\n</system-reminder>" },
        { type: "text", text: "read a.txt" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I read it" },
        { type: "tool_use", id: "call-1", name: "Read", input: { file_path: "a.txt" } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "call-1", content: [{ type: "text", text: "words" }] }],
    },
    { role: "assistant", content: [{ type: "text", text: "done" }] },
  ],
  tokens: 40,
  rawTokens: 60,
  left: { reasoning: 2, pruned: 0 },
};
const id = uuidOf("a session");
const target = {
  id,
  timeMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  cwd: "/me/my.project",
  home: "/me",
  env: {},
};
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a transcript for Claude Code", () => {
  const { path, text, resume } = claudeTranscript(transcript, target);

  it("is written where the client looks, and continues by its id", () => {
    expect(path).toBe(`/me/.claude/projects/-me-my-project/${id}.jsonl`);
    expect(resume).toBe(`claude --resume ${id}`);
    const elsewhere = { ...target, env: { CLAUDE_CONFIG_DIR: "/settings" } };
    expect(claudeTranscript(transcript, elsewhere).path).toMatch(/^\/settings\/projects\//);
  });

  it("has a linked line per message, without the client's own reminders", () => {
    const lines = linesOf(text);
    expect(lines.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(lines[0].message.content).toEqual([{ type: "text", text: "read a.txt" }]);
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...lines.slice(0, -1).map(({ uuid }) => uuid),
    ]);
    expect(lines.map(({ message }) => message.stop_reason)).toEqual([
      undefined,
      "tool_use",
      undefined,
      "end_turn",
    ]);
  });
});

describe("a transcript for Codex", () => {
  const { path, text } = codexTranscript(transcript, target);

  it("is written where the client looks", () => {
    expect(path).toBe(`/me/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`);
  });

  it("has items of the Responses API, with calls and outputs", () => {
    const items = linesOf(text).filter(({ type }) => type === "response_item");
    expect(items.map(({ payload }) => payload.type)).toEqual([
      "message",
      "message",
      "message",
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(items[3].payload).toEqual({
      type: "function_call",
      name: "Read",
      arguments: '{"file_path":"a.txt"}',
      call_id: "call-1",
    });
    expect(items[4].payload.output).toBe("words");
  });
});

describe("a transcript for pi", () => {
  const { path, text, resume } = piTranscript(transcript, target);

  it("is written where the client looks", () => {
    expect(path).toBe(`/me/.pi/agent/sessions/--me-my.project--/2026-01-02T03-04-05-000Z_${id}.jsonl`);
    expect(resume).toBe(`pi --session ${path}`);
  });

  it("has results as messages with the name of their tool", () => {
    const [header, ...entries] = linesOf(text);
    expect(header).toMatchObject({ type: "session", version: 3, id, cwd: target.cwd });
    expect(entries.map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(entries[2].message).toMatchObject({ toolCallId: "call-1", toolName: "Read", isError: false });
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map((entry) => entry.id),
    ]);
  });
});
