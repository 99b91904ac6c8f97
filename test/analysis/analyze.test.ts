// `aperture analyze` as somebody meets it who has never started Aperture.
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

/** Every run of the program plays sessions, on whatever machine this is. */
vi.setConfig({ testTimeout: 120_000 });

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "aperture-analyze-"));
  writeTranscripts(home, transcriptFiles(talk("claude-opus-4-6"), "claude-code"));
  writeTranscripts(home, transcriptFiles({ ...talk("nobody-knows-1"), id: "other" }, "gemini-cli"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A file is read, read again, and edited; its words are hostile to terminals and to pages. */
function talk(model: string): Recording {
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
  test("the report says what fills, repeats, idles, costs and would be saved", () => {
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
    expect(out).toMatch(/gemini-cli +1 session +3 requests .*, if it were managed$/m);
    expect(out).toContain(
      "Gemini CLI: as if managed; today Aperture only relays and records what they send.",
    );
    expect(out).not.toMatch(/claude-code .*if it were managed/);
    expect(out, "nothing that a terminal would obey").not.toContain("\u001b");
  });

  test("what has no price is told in tokens, never as nothing", () => {
    const { out } = run(["--json"]);
    const { totals, sessions } = JSON.parse(out);
    const other = sessions.find(({ id }: { id: string }) => id === "other");
    expect(other.spent).toMatchObject({ usd: null, counted: 3, unpriced: 3 });
    expect(other.simulated.inputUsd).toBeNull();
    expect(totals.simulated.usd.sessions).toBe(1);
    expect(totals.spent.unpriced).toBe(3);
    const alone = run([join(home, ".gemini")]);
    expect(alone.out).toContain("nobody has a price of these models: tokens only");
    expect(alone.out).not.toMatch(/\$\d/);
  });

  test("figures are consistent: a result read twice repeats, and is carried until the end", () => {
    const { sessions } = JSON.parse(run(["--json", join(home, ".claude")]).out);
    const [{ contents, requests, spent }] = sessions;
    expect(requests).toBe(3);
    expect(contents.repeats.calls).toEqual([expect.objectContaining({ times: 2 })]);
    expect(contents.repeats.seenTokens / contents.repeats.resultTokens).toBeGreaterThan(0.4);
    expect(contents.files).toHaveLength(1);
    expect(spent).toMatchObject({ input: 30, cacheRead: 3_000, cacheWrite: 1_500, output: 150 });
    // The second copy is the most recent one, so the first was used by nobody.
    expect(contents.idle).toMatchObject({ results: 2, neverUsed: 1 });
  });

  test("colours only for those who look or ask", () => {
    expect(run([], { FORCE_COLOR: "1" }).out).toContain("\u001b[1m");
    expect(run(["--no-color"], { FORCE_COLOR: "1" }).out).not.toContain("\u001b");
  });

  test("nothing is written but the page that was asked for", () => {
    const before = everything(home);
    const { code, err } = run(["--html", "report.html"]);
    expect(code).toBe(0);
    expect(err).toContain("report.html: a report of 2 sessions");
    expect(everything(home).filter((path) => !before.includes(path))).toEqual(["report.html"]);
    expect(existsSync(join(home, "data"))).toBe(false);
  });
});

test("the page needs nothing from anywhere and runs nothing", () => {
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

test("what cannot be read is told with its place, and the rest is analysed", () => {
  const folder = join(home, "broken");
  mkdirSync(folder, { recursive: true });
  const [main] = transcriptFiles({ ...talk("claude-opus-4-6"), id: "broken" }, "claude-code");
  writeFileSync(join(folder, "broken.jsonl"), `${main?.text}{"type":"user","uuid":"x"\n{"type":"strange"}\n`);
  const { code, out } = run([folder]);
  expect(code).toBe(0);
  expect(out).toMatch(/1 lines that are no JSON, first in line 7: .*broken\.jsonl/);
  expect(out).toMatch(/1 lines of a kind nobody knows: "strange", first in line 8/);
});

test("a request that was copied into another file counts once", () => {
  const folder = join(home, "twice");
  mkdirSync(folder, { recursive: true });
  const [main] = transcriptFiles(talk("claude-opus-4-6"), "claude-code");
  writeFileSync(join(folder, "a.jsonl"), main?.text ?? "");
  writeFileSync(
    join(folder, "b.jsonl"),
    (main?.text ?? "").replaceAll('"sessionId":"talk"', '"sessionId":"next"'),
  );
  expect(JSON.parse(run([folder, "--json"]).out).totals).toMatchObject({ sessions: 1, requests: 3 });
});

test("where there is nothing it says so and how to go on", () => {
  const empty = join(home, "empty");
  mkdirSync(empty, { recursive: true });
  const none = run([empty]);
  expect(none).toMatchObject({ code: 4, out: "" });
  expect(none.err).toContain("aperture analyze FILE");
  const missing = run(["nowhere.jsonl"]);
  expect(missing.code).toBe(4);
  expect(missing.err).toContain("nowhere.jsonl: it is not there");
  writeFileSync(join(home, "text.txt"), "hello");
  expect(run(["text.txt"]).err).toContain("it is no transcript of a client that is known here");
});

function everything(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}
