// `aperture import` through the built program; the result is read from a running Aperture.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Recording } from "../../src/transcripts/index.ts";
import { api, openRig, type Rig } from "../cli/rig.ts";
import { transcriptFiles, writeTranscripts } from "../support/transcript-files.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

const secret = `sk-ant-api03-${"x1Y2".repeat(12)}`;
const kept = "a-password-of-this-machine";

/** The first `turns` turns of a session with a tool call, and an agent that it started. */
function sessionOf(turns: number): Recording {
  const call = { type: "tool_use", id: "call_1", name: "Read", input: { file_path: "src/a.ts" } };
  const userMessage = (text: string) => ({ role: "user", content: text });
  const at = (minute: number) => ({
    model: "claude-opus-4-6",
    t: `2026-03-01T10:0${minute}:00.000Z`,
    usage: { in: 7, cr: 100 * minute, cw: 50, out: 9 },
  });
  const result = { type: "tool_result", tool_use_id: "call_1", content: `key ${secret} and ${kept}` };
  const all = [
    { c: [userMessage("please read it")], a: [call], m: at(1) },
    { c: [{ role: "user", content: [result] }], a: [{ type: "text", text: "It is done." }], m: at(3) },
    { c: [userMessage("and now the rest")], a: [{ type: "text", text: "All done." }], m: at(4) },
    { c: [userMessage(`it is ${kept}`)], a: [{ type: "text", text: "Thank you." }], m: at(5) },
  ];
  const agent = [
    { c: [userMessage("look around")], a: [{ type: "text", text: "Nothing there." }], m: at(2) },
  ];
  return {
    id: "talk",
    system: null,
    tools: ["Read"],
    models: ["claude-opus-4-6"],
    turns: all.slice(0, turns),
    streams: [{ turns: agent }],
  };
}

const runImport = (args: readonly string[] = []) => rig.run(["import", ...args], { MY_PASSWORD: kept });

test("a transcript becomes one session, and later requests are added to it", {
  timeout: 120_000,
}, async () => {
  writeTranscripts(rig.home, transcriptFiles(sessionOf(2), "claude-code"));
  const first = await runImport();
  expect(first.code, first.err).toBe(0);
  expect(first.out).toMatch(/^[0-9a-f]{8} {2}claude-code {2}talk {2}3 requests added, 1 credential masked$/m);
  const again = await runImport(["--json"]);
  expect(JSON.parse(again.out).sessions).toEqual([
    expect.objectContaining({ transcript: "talk", added: 0, known: 3, lost: 0 }),
  ]);
  writeTranscripts(rig.home, transcriptFiles(sessionOf(3), "claude-code"));
  expect((await runImport()).out).toContain("1 request added, 3 already known");
});

test("an imported session has the blocks, streams and usage of the transcript", {
  timeout: 120_000,
}, async () => {
  const up = await rig.up();
  const { rows: sessions } = (await api(rig, "/api/v1/sessions")) as { rows: readonly { id: string }[] };
  expect(sessions).toEqual([
    expect.objectContaining({ client: "claude-code transcript", model: "claude-opus-4-6", requests: 4 }),
  ]);
  const id = sessions[0]?.id ?? "";
  const { rows: requests } = (await api(rig, `/api/v1/sessions/${id}/requests`)) as {
    rows: readonly Readonly<Record<string, unknown>>[];
  };
  expect(requests.map(({ stream, role, relation }) => ({ stream, role, relation }))).toEqual([
    { stream: 1, role: "turn", relation: "first" },
    { stream: 2, role: "turn", relation: "first" },
    { stream: 1, role: "turn", relation: "append" },
    { stream: 1, role: "turn", relation: "append" },
  ]);
  expect(requests[0]).toMatchObject({ usage: { input: 7, cacheRead: 100, cacheWrite: 50, output: 9 } });
  const { blocks } = (await api(rig, `/api/v1/sessions/${id}/state`)) as {
    blocks: readonly { readonly kind: string }[];
  };
  // The blocks of the last request; its answer is sent with the next one.
  const kinds = ["user", "tool-call", "tool-result", "assistant", "user"];
  expect(blocks.map(({ kind }) => kind)).toEqual(kinds);
  // New requests are handed to the running Aperture, which shows them at once.
  expect((await runImport()).out).toContain("nothing new, 4 already known");
  writeTranscripts(rig.home, transcriptFiles(sessionOf(4), "claude-code"));
  const grown = await runImport();
  expect([grown.code, grown.err.trim()]).toEqual([0, "1 request added from 1 session"]);
  expect(grown.out).toContain("1 request added, 4 already known, 1 credential masked");
  const after = (await api(rig, `/api/v1/sessions/${id}/requests`)) as { rows: readonly unknown[] };
  expect(after.rows).toHaveLength(5);
  up.child.kill("SIGTERM");
  await up.ended;
});

test("the database holds no credential, neither by its form nor from this machine's environment", () => {
  for (const name of ["aperture.db", "aperture.db-wal"]) {
    const bytes = read(join(rig.dataDir, name));
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(kept)).toBe(false);
  }
});

test("unreadable lines are reported, and the rest is imported", { timeout: 60_000 }, async () => {
  const folder = join(rig.folder, "other");
  mkdirSync(folder);
  const [file] = transcriptFiles({ ...sessionOf(2), id: "other", streams: [] }, "codex");
  writeFileSync(join(folder, "rollout.jsonl"), `${file?.text}{"cut off\n`);
  const { code, out, err } = await runImport([folder]);
  expect(code, err).toBe(0);
  expect(out).toContain("codex  other  2 requests added");
  expect(err).toMatch(/rollout\.jsonl: 1 lines that are no JSON, first in line \d+/);
  expect((await runImport([join(rig.folder, "nowhere")])).code).toBe(4);
});

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
