import { expect, test } from "vitest";
import { transcriptFormats } from "../transcripts/index.ts";
import { transcriptFile } from "./transcript-file.ts";

const id = "0f2c";
const target = { id, timeMs: Date.UTC(2026, 0, 2, 3, 4, 5), cwd: "/me/my.project", home: "/me", env: {} };
const empty = { model: null, rows: [] };

test.each([
  ["claude", `/me/.claude/projects/-me-my-project/${id}.jsonl`],
  ["codex", `/me/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`],
  ["pi", `/me/.pi/agent/sessions/--me-my.project--/2026-01-02T03-04-05-000Z_${id}.jsonl`],
] as const)("a transcript for %s is written where the client looks", (client, path) => {
  expect(transcriptFile(transcriptFormats[client], empty, target).path).toBe(path);
});

test("a variable of the client names another folder", () => {
  const elsewhere = { ...target, env: { CLAUDE_CONFIG_DIR: "/settings" } };
  expect(transcriptFile(transcriptFormats.claude, empty, elsewhere).path).toMatch(/^\/settings\/projects\//);
});

test("pi continues from the path of the file", () => {
  const { path, resume } = transcriptFile(transcriptFormats.pi, empty, target);
  expect(resume).toBe(`pi --session ${path}`);
});
