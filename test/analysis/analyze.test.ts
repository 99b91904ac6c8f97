// `aperture analyze` for a user who has never started Aperture.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Recording } from "../../src/transcripts/index.ts";
import { transcriptFiles, writeTranscripts } from "../support/transcript-files.ts";

const program = join(process.cwd(), "dist", "cli", "main.cjs");
let home = "";

/** Every run of the program plays sessions, which takes long on a slow machine. */
vi.setConfig({ testTimeout: 120_000 });

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "aperture-analyze-"));
  writeTranscripts(home, transcriptFiles(readTwice("claude-opus-4-6"), "claude-code"));
  writeTranscripts(home, transcriptFiles({ ...readTwice("nobody-knows-1"), id: "other" }, "gemini-cli"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A session that reads a file twice; its texts are hostile to terminals and to HTML pages. */
function readTwice(model: string): Recording {
  const file = Array.from({ length: 40 }, (_, at) => `const parserStep${at} = readToken(${at});`).join("\n");
  const call = (n: number, name: string) => ({
    type: "tool_use",
    id: `call_${n}`,
    name,
    input: { file_path: "src/<script>alert(1)</script>.ts" },
  });
  const result = (n: number) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: `call_${n}`, content: file }],
  });
  const turn = (c: Recording["turns"][number]["c"], a: Recording["turns"][number]["a"], at: number) => ({
    c,
    a,
    m: { model, t: `2026-03-01T10:0${at}:00.000Z`, usage: { in: 10, cr: 1_000 * at, cw: 500, out: 50 } },
  });
  const turns = [
    turn([{ role: "user", content: "please read it \u001b[31mnow" }], [call(1, "Read")], 0),
    turn([result(1)], [call(2, "Read")], 1),
    turn([result(2)], [{ type: "text", text: "It calls parserStep7." }], 2),
  ];
  return { id: "talk", system: null, tools: ["Read"], models: [model], turns };
}

function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, APERTURE_DATA_DIR: join(home, "data"), ...more };
  const ended = spawnSync(process.execPath, [program, "analyze", ...args], {
    env,
    cwd: home,
    encoding: "utf8",
  });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

describe("over transcripts in their usual places", () => {
  test("the report has all sections and figures", () => {
    const { code, out, err } = run([]);
    expect(code, err).toBe(0);
    expect(err).toBe("");
    expect(out).toMatch(/^2 sessions {2}6 requests {2}2026-03-01$/m);
    for (const title of [
      "What fills these contexts",
      "What repeats",
      "What was never used again",
      "What it cost",
      "What Aperture would have saved",
      "How this was counted",
    ])
      expect(out).toContain(title);
    // Twice in each of the two sessions.
    expect(out).toMatch(/4x {2}Read src\/<script>/);
    expect(out).toMatch(/gemini-cli +1 session +3 requests .*, if managed$/m);
    expect(out).toContain("Gemini CLI: hypothetical; Aperture only relays and records their requests today.");
    expect(out).not.toMatch(/claude-code .*if managed/);
    expect(out, "nothing that a terminal would obey").not.toContain("\u001b");
  });

  test("a model without a price is reported in tokens, never as zero cost", () => {
    const { out } = run(["--json"]);
    const { totals, sessions } = JSON.parse(out);
    const other = sessions.find(({ id }: { id: string }) => id === "other");
    expect(other.spent).toMatchObject({ usd: null, counted: 3, unpriced: 3 });
    expect(other.simulated.inputUsd).toBeNull();
    expect(totals.simulated.usd.sessions).toBe(1);
    expect(totals.spent.unpriced).toBe(3);
    const alone = run([join(home, ".gemini")]);
    expect(alone.out).toContain("the prices of these models are not known: tokens only");
    expect(alone.out).not.toMatch(/\$\d/);
  });

  test("a result that is read twice counts as repeated, and only its last copy as used", () => {
    const { sessions } = JSON.parse(run(["--json", join(home, ".claude")]).out);
    const [{ contents, requests, spent }] = sessions;
    expect(requests).toBe(3);
    expect(contents.repeats.calls).toEqual([expect.objectContaining({ times: 2 })]);
    expect(contents.repeats.seenTokens / contents.repeats.resultTokens).toBeGreaterThan(0.4);
    expect(contents.files).toHaveLength(1);
    expect(spent).toMatchObject({ input: 30, cacheRead: 3_000, cacheWrite: 1_500, output: 150 });
    // The second copy is the most recent one, so the first was never used.
    expect(contents.idle).toMatchObject({ results: 2, neverUsed: 1 });
  });

  test("the output has colours only on request", () => {
    expect(run([], { FORCE_COLOR: "1" }).out).toContain("\u001b[1m");
    expect(run(["--no-color"], { FORCE_COLOR: "1" }).out).not.toContain("\u001b");
  });

  test("only the requested page is written", () => {
    const before = allFiles(home);
    const { code, err } = run(["--html", "report.html"]);
    expect(code).toBe(0);
    expect(err).toContain("report.html: report on 2 sessions");
    expect(allFiles(home).filter((path) => !before.includes(path))).toEqual(["report.html"]);
    expect(existsSync(join(home, "data"))).toBe(false);
  });
});

test("the README shows lines that analyze prints for the transcript of the repository", () => {
  const transcript = "test/fixtures/transcripts/claude-code.jsonl";
  const [, after = ""] = readFileSync("README.md", "utf8").split(`$ aperture analyze ${transcript}\n`);
  const shown = (after.split("```")[0] ?? "").trimEnd().split("\n");
  const { code, out, err } = run([join(process.cwd(), transcript)]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(shown.length).toBeGreaterThan(5);
  const printed = out.split("\n");
  expect(shown.filter((line) => !printed.includes(line))).toEqual([]);
});

test("the page loads nothing and runs no script", () => {
  run(["--html", "page.html"]);
  const page = readFileSync(join(home, "page.html"), "utf8");
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|\son\w+=/i);
  expect(page.match(/https?:\/\//g)).toBeNull();
  expect(page).toContain("&#60;script&#62;");
  expect(page).toContain("prefers-color-scheme:dark");
  for (const [picture] of page.matchAll(/<svg[^>]*>/g))
    expect(picture).toMatch(/role="img" aria-label="[^"]+"/);
});

test("unreadable lines are reported with their number, and the rest is analysed", () => {
  const folder = join(home, "broken");
  mkdirSync(folder, { recursive: true });
  const [main] = transcriptFiles({ ...readTwice("claude-opus-4-6"), id: "broken" }, "claude-code");
  writeFileSync(join(folder, "broken.jsonl"), `${main?.text}{"type":"user","uuid":"x"\n{"type":"strange"}\n`);
  const { code, out } = run([folder]);
  expect(code).toBe(0);
  expect(out).toMatch(/1 lines that are no JSON, first in line 7: .*broken\.jsonl/);
  expect(out).toMatch(/1 lines of a kind nobody knows: "strange", first in line 8/);
});

test("a request that was copied into another file counts once", () => {
  const folder = join(home, "twice");
  mkdirSync(folder, { recursive: true });
  const [main] = transcriptFiles(readTwice("claude-opus-4-6"), "claude-code");
  writeFileSync(join(folder, "a.jsonl"), main?.text ?? "");
  writeFileSync(
    join(folder, "b.jsonl"),
    (main?.text ?? "").replaceAll('"sessionId":"talk"', '"sessionId":"next"'),
  );
  expect(JSON.parse(run([folder, "--json"]).out).totals).toMatchObject({ sessions: 1, requests: 3 });
});

test("without transcripts the error says what to do", () => {
  const empty = join(home, "empty");
  mkdirSync(empty, { recursive: true });
  const none = run([empty]);
  expect(none).toMatchObject({ code: 4, out: "" });
  expect(none.err).toContain("aperture analyze FILE");
  const missing = run(["nowhere.jsonl"]);
  expect(missing.code).toBe(4);
  expect(missing.err).toContain("nowhere.jsonl: it does not exist");
  writeFileSync(join(home, "text.txt"), "hello");
  expect(run(["text.txt"]).err).toContain("not a transcript of a known client");
});

function allFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}
