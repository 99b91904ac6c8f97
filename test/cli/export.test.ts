// `aperture export` masks secrets, and `replay` checks a session byte by byte.
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { PricedRequests } from "../../src/control/index.ts";
import { needsTerminals } from "../support/needs.ts";
import { api, converse, openRig, post, type Rig } from "./rig.ts";

const key = `sk-ant-${"api03-aB3dE6".repeat(5)}`;
const hostile = "</pre><script>alert(1)</script>";
/** By the client's name for it, because later sessions follow. */
const first = "name:first";
let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await converse(rig, "first", ["say hello", `say my key is ${key}`, `say ${hostile} and \`\`\`\` too`]);
  await vi.waitFor(async () => {
    const page = (await api(rig, "/api/v1/sessions/name:first/requests")) as Partial<PricedRequests>;
    expect((page.rows ?? []).map(({ outcome }) => outcome)).toEqual(["complete", "complete", "complete"]);
  }, 10_000);
});
afterAll(() => rig.close());

type Line = Readonly<Record<string, unknown>>;
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

describe("export", () => {
  test("jsonl holds every frame, block, request and body, and no secret", async () => {
    const { code, out } = await rig.run(["export", first]);
    expect(code).toBe(0);
    expect(out).not.toContain(key);
    expect(out).toContain("[masked]");
    const lines = linesOf(out);
    expect(lines[0]).toMatchObject({ type: "session", v: 1, masked: true });
    const count = (type: string) => lines.filter((line) => line["type"] === type).length;
    const state = (await api(rig, "/api/v1/sessions/name:first/state")) as {
      seq: number;
      blocks: readonly unknown[];
    };
    expect(count("frame")).toBe(state.seq);
    expect(count("block")).toBe(state.blocks.length);
    expect(count("request")).toBe(3);
    expect(count("body")).toBe(9);
  });

  test("html is one inert file", async () => {
    const { code } = await rig.run(["export", first, "--format", "html", "--out", "session.html"]);
    expect(code).toBe(0);
    const path = join(rig.folder, "session.html");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(text).not.toMatch(/<script|https?:\/\/(?!upstream)|src=|href=/);
    expect(text).toContain("&lt;script&gt;alert(1)");
    expect(text).not.toContain(key);
    const again = await rig.run(["export", first, "--format", "html", "--out", "session.html"]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("already exists") });
  });

  test("md and har have the expected form", async () => {
    const { out: md } = await rig.run(["export", first, "--format", "md"]);
    expect(md).toMatch(/^# say hello\n/);
    expect(md).toContain("`````\n");
    expect(md).not.toContain(key);
    const { out } = await rig.run(["export", first, "--format", "har"]);
    expect(out).not.toContain(key);
    const { log } = JSON.parse(out) as { log: { version: string; entries: readonly Line[] } };
    expect(log.version).toBe("1.2");
    expect(log.entries).toHaveLength(3);
    for (const entry of log.entries) {
      expect(entry).toMatchObject({ request: { method: "POST", headers: [] }, response: { status: 200 } });
      const { url } = entry["request"] as { readonly url: string };
      expect(new URL(url)).toMatchObject({ host: "upstream.invalid", pathname: "/v1/messages" });
    }
    expect((await rig.run(["export", first, "--format", "pdf"])).code).toBe(2);
    expect((await rig.run(["export", "no-such-session"])).code).toBe(4);
  });

  test("with secrets: refused without a terminal, even with --yes", async () => {
    const { code, out } = await rig.run(["export", first, "--with-secrets", "--yes"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test("with secrets: asks twice at a terminal", async (context) => {
    needsTerminals(context);
    const run = (answers: readonly string[], name: string) => {
      const words = ["export", first, "--with-secrets", "--out", name].map((word) => `'${word}'`).join(" ");
      const line = `'${process.execPath}' '${join(process.cwd(), "dist/cli/main.cjs")}' ${words}`;
      const child = spawn("script", ["-qec", line, "/dev/null"], { env: { ...rig.env }, cwd: rig.folder });
      let prompts = 0;
      child.stdout.on("data", (chunk: Buffer) => {
        if (!/Go on\?|to agree:/.test(chunk.toString())) return;
        child.stdin.write(`${answers[prompts] ?? ""}\n`);
        prompts += 1;
      });
      return new Promise<number>((done) => child.once("close", () => done(prompts)));
    };
    expect(await run(["n"], "no.jsonl")).toBe(1);
    expect(await run(["y", "with secrets"], "whole.jsonl")).toBe(2);
    expect(() => statSync(join(rig.folder, "no.jsonl"))).toThrow();
    expect(readFileSync(join(rig.folder, "whole.jsonl"), "utf8")).toContain(key);
    const { code, out } = await rig.run(["replay", "whole.jsonl", "--verify"]);
    expect(code).toBe(0);
    expect(out).toMatch(/9\/9 stored bodies byte-identical/);
  });
});

describe("a session with sub-agents", () => {
  const prompt = "Look through the logs for the first error.";
  beforeAll(async () => {
    await converse(rig, "main", ["say who helps you"]);
    const messages = [{ role: "user", content: `${prompt} The key is ${key}.` }];
    const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 50, messages });
    await post(rig, body, { "x-aperture-session": "main", "x-claude-code-agent-id": "7f1c" });
    await vi.waitFor(async () => {
      const { streams } = (await api(rig, "/api/v1/sessions/name:main")) as { streams: readonly object[] };
      expect(streams).toHaveLength(2);
    }, 10_000);
  });
  const exported = async (format: string) => (await rig.run(["export", "name:main", "--format", format])).out;

  test("is exported with each sub-agent under its own heading", async () => {
    const [md, page] = [await exported("md"), await exported("html")];
    expect(md).toMatch(new RegExp(`\\n# Sub-agent: ${prompt}.*\\n\\n- 1 turn\\n[^]*${prompt}`));
    expect(page).toMatch(new RegExp(`<h2>Sub-agent: ${prompt}[^]*<pre>${prompt}`));
    expect([md.includes(key), page.includes(key)]).toEqual([false, false]);
  });

  test("has every block of every stream once in jsonl", async () => {
    const lines = linesOf(await exported("jsonl"));
    const head = lines.findIndex(({ type }) => type === "stream");
    expect(lines[head]).toMatchObject({ stream: { turns: 1, title: expect.stringContaining(prompt) } });
    type Block = { readonly block: { readonly n: number; readonly stream: number } };
    const blocks = lines.filter(({ type }) => type === "block") as unknown as readonly Block[];
    const streams = new Set(blocks.map(({ block }) => block.stream));
    expect([streams.size, new Set(blocks.map(({ block }) => block.n)).size]).toEqual([2, blocks.length]);
    expect(JSON.stringify(lines[head + 1])).toContain(prompt);
  });
});

describe("replay", () => {
  test("replays every frame and compares every stored body", async () => {
    const { code, out } = await rig.run(["replay", first, "--verify"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^(\d+) frames, \1 replayed to \d+ blocks; 3 requests, 9\/9 stored bodies byte-ident/,
    );
    const part = JSON.parse((await rig.run(["replay", first, "--to", "2", "--json"])).out) as Line;
    expect(part).toMatchObject({ v: 1, seq: 2, folded: 2, problems: [] });
  });

  test("compares both sides of requests that are only observed", async () => {
    const messages = [{ role: "user", content: "say nothing much" }];
    await post(rig, JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 50, messages }));
    const id = await vi.waitFor(async () => {
      const page = (await api(rig, "/api/v1/sessions")) as { rows: readonly { id: string; name: string }[] };
      const found = page.rows.find(({ name }) => name === "say nothing much");
      return found?.id ?? expect.fail("it is not recorded yet");
    }, 10_000);
    const { code, out } = await rig.run(["replay", id, "--verify"]);
    expect(code).toBe(0);
    expect(out).toContain("1/1 requests that were not managed were relayed unchanged");
  });

  test("a masked file is checked as far as possible", async () => {
    const path = join(rig.folder, "masked.jsonl");
    await rig.run(["export", first, "--out", path]);
    const { code, err } = await rig.run(["replay", path, "--verify"]);
    expect(code).toBe(0);
    expect(err).toContain("bodies are masked, unpacked or purged");
  });

  test("every change in a file is found and named", async () => {
    const { out: whole } = await rig.run(["export", first]);
    const change = async (edit: (line: string) => string) => {
      const path = join(rig.folder, "changed.jsonl");
      writeFileSync(path, whole.split("\n").map(edit).join("\n"));
      return await rig.run(["replay", path, "--verify"]);
    };
    const time = await change((line) => {
      const value = line === "" ? {} : (JSON.parse(line) as { frame?: { seq: number } });
      const isSecond = value.frame?.seq === 2;
      return isSecond ? JSON.stringify({ ...value, frame: { ...value.frame, time: 1 } }) : line;
    });
    expect(time).toMatchObject({ code: 1, out: expect.stringContaining("frame 2: its seal is broken") });
    const body = await change((line) =>
      line.includes('"side":"client"') ? line.replace("Be kind", "Be rude") : line,
    );
    expect(body).toMatchObject({
      code: 1,
      out: expect.stringContaining("its bytes differ from the stored hash"),
    });
    const other = await change((line) => line.replace('"type":"session"', '"type":"other"'));
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining("not an export of a session") });
  });
});
