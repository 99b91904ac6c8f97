import { describe, expect, it } from "vitest";
import type { Part } from "../content/index.ts";
import { claudeFormat } from "./write-claude.ts";
import { codexFormat } from "./write-codex.ts";
import { piFormat } from "./write-pi.ts";
import { uuidOf, type WritableTranscript } from "./written-transcript.ts";

const transcript: WritableTranscript = {
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
        { type: "call", id: "call-1", name: "Read", input: { file_path: "a.txt" }, isExact: true },
      ],
    },
    {
      role: "user",
      content: [
        { type: "result", callId: "call-1", parts: [{ type: "text", text: "words" }], isError: false },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "done" }] },
  ],
};
const id = uuidOf("a session");
const target = {
  id,
  timeMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  isoTime: (timeMs: number) => new Date(timeMs).toISOString(),
  cwd: "/me/my.project",
};
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a transcript for Claude Code", () => {
  const { file, text, resume } = claudeFormat.write(transcript, target);

  it("is written where the client looks, and continues by its id", () => {
    expect(file.join("/")).toBe(`projects/-me-my-project/${id}.jsonl`);
    expect(resume("anywhere")).toBe(`claude --resume ${id}`);
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
  const { file, text } = codexFormat.write(transcript, target);

  it("is written where the client looks", () => {
    expect(file.join("/")).toBe(`sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`);
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
  const { file, text, resume } = piFormat.write(transcript, target);

  it("is written where the client looks", () => {
    expect(file.join("/")).toBe(`sessions/--me-my.project--/2026-01-02T03-04-05-000Z_${id}.jsonl`);
    expect(resume("/a/file")).toBe("pi --session /a/file");
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

describe("a part that only one wire format has", () => {
  const value = { type: "tool_reference", tool_name: "Read" };
  const opaque: Part = {
    type: "opaque",
    text: JSON.stringify(value),
    strings: [],
    raw: { form: "anthropic", type: value.type, value },
  };
  const picture: Part = {
    type: "media",
    kind: "image",
    text: "(image)",
    strings: [],
    file: { type: "image/png", data: "AAAA" },
    raw: null,
  };
  const results: Part = { type: "result", callId: "call-1", parts: [opaque, picture], isError: true };
  const rows = [{ role: "user" as const, content: [results, opaque, picture] }];
  const written = (format: typeof claudeFormat) => linesOf(format.write({ model: null, rows }, target).text);

  it("stays as it is for a client of that format", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(written(claudeFormat)[0].message.content).toEqual([
      { type: "tool_result", tool_use_id: "call-1", content: [value, image], is_error: true },
      value,
      image,
    ]);
  });

  it("is a line of text for other clients", () => {
    const [, result, user] = written(piFormat).map(({ message }) => message);
    expect(result.content).toEqual([{ type: "text", text: "[tool_reference left out]\n[image left out]" }]);
    expect(user.content).toEqual([
      { type: "text", text: "[a tool_reference that cannot be kept here]" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ]);
  });
});
