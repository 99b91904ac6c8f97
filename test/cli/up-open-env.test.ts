// `up --detach`, `down`, `open` and `env`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { needsTerminals } from "../support/needs.ts";
import { converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(async () => {
  // A background process is not a child of the test.
  await rig.run(["down"]);
  await rig.close();
});

describe("in the background", () => {
  test("up returns when it is ready, and down stops it", async () => {
    const { code, out, err } = await rig.run(["up", "--detach"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Aperture listening on ${rig.url} \\(process \\d+\\)\n$`));
    const log = join(rig.home, ".local", "state", "aperture", "aperture.log");
    expect(err).toContain(log);
    expect(readFileSync(log, "utf8")).toContain("listening on");
    expect((await rig.run(["status"])).code).toBe(0);
    const again = await rig.run(["up", "--detach"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("is already running") });
    const down = await rig.run(["down"]);
    expect(down).toMatchObject({ code: 0, out: expect.stringMatching(/^stopped \(process \d+\)\n$/) });
    expect(existsSync(join(rig.dataDir, "lock"))).toBe(false);
    const none = await rig.run(["down"]);
    expect([none.code, none.err]).toEqual([5, expect.stringContaining("nothing to stop")]);
  });

  test("up reports why it cannot start", async () => {
    const file = join(rig.folder, "taken");
    writeFileSync(file, "");
    await rig.up();
    const { code, err } = await rig.run(["up", "--detach", "--port", `${rig.port + 1}`]);
    expect(code).toBe(1);
    expect(err).toContain("Another Aperture");
  });

  test("down does not stop an Aperture that serves a client", async () => {
    const path = join(rig.folder, "wait.mjs");
    writeFileSync(path, 'console.log("ready"); process.stdin.resume(); setTimeout(() => undefined, 20000);');
    const client = rig.start(["run", process.execPath, path]);
    await client.saw(/ready/);
    const { code, err } = await rig.run(["down"]);
    expect(code).toBe(1);
    expect(err).toContain("was started by `aperture run`");
    client.child.kill("SIGTERM");
    await client.ended;
  });
});

describe("open", () => {
  async function visit(url: string) {
    return await fetch(url, { redirect: "manual" });
  }

  test("prints a link that works once", async () => {
    await rig.up();
    const { code, out } = await rig.run(["open"]);
    expect(code).toBe(0);
    const first = await visit(out.trim());
    expect(first.status).toBe(303);
    expect(first.headers.get("location")).toBe("/");
    expect((await visit(out.trim())).status).toBe(401);
  });

  test("links to a session, and never to another site", async () => {
    await rig.up();
    await converse(rig, "first", ["say hello"]);
    const { out } = await rig.run(["open", "last", "--json"]);
    const { url } = JSON.parse(out) as { url: string };
    const location = (await visit(url)).headers.get("location");
    expect(location).toMatch(/^\/s\/[0-9a-f-]+$/);
    const { out: other } = await rig.run(["open", "--print"]);
    const away = await visit(`${other.trim()}&session=${encodeURIComponent("../../evil.example")}`);
    expect(away.headers.get("location")).toBe("/s/..%2F..%2Fevil.example");
    expect((await rig.run(["open", "no-such-session"])).code).toBe(4);
  });

  test("opens a browser at a terminal only", async (context) => {
    needsTerminals(context);
    await rig.up();
    const browser = join(rig.folder, "browser");
    const seen = join(rig.folder, "seen");
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${seen}'\n`, { mode: 0o755 });
    await rig.run(["open"], { BROWSER: browser });
    expect(existsSync(seen)).toBe(false);
    const program = join(process.cwd(), "dist/cli/main.cjs");
    const line = `'${process.execPath}' '${program}' open`;
    spawnSync("script", ["-qec", line, "/dev/null"], {
      env: { ...rig.env, BROWSER: browser },
      cwd: rig.folder,
    });
    await expect
      .poll(() => existsSync(seen) && readFileSync(seen, "utf8"), { timeout: 10_000 })
      .toContain(`${rig.url}/login?code=`);
  });
});

describe("env", () => {
  test("prints commands that a shell runs correctly", async () => {
    const { out } = await rig.run(["env", "claude", "--shell", "sh"]);
    const { stdout } = spawnSync("sh", ["-c", `${out}\nprintf %s "$ANTHROPIC_BASE_URL"`], {
      encoding: "utf8",
    });
    expect(stdout).toBe(rig.url);
    const config = await rig.run(["env", "opencode", "--shell", "bash"]);
    const read = spawnSync("sh", ["-c", `${config.out}\nprintf %s "$OPENCODE_CONFIG_CONTENT"`], {
      encoding: "utf8",
    });
    expect(JSON.parse(read.stdout)).toMatchObject({
      provider: { anthropic: { options: { baseURL: `${rig.url}/v1` } } },
    });
  });

  test("knows every shell syntax, and prints the limits of variables", async () => {
    expect((await rig.run(["env", "claude", "--shell", "fish"])).out).toBe(
      `set -gx ANTHROPIC_BASE_URL '${rig.url}'\n`,
    );
    expect((await rig.run(["env", "claude"], { SHELL: "/usr/bin/pwsh" })).out).toBe(
      `$env:ANTHROPIC_BASE_URL = '${rig.url}'\n`,
    );
    expect((await rig.run(["env", "codex"])).err).toContain("aperture install codex");
    expect((await rig.run(["env", "vim"])).code).toBe(2);
    expect((await rig.run(["env", "claude", "--shell", "tcl"])).code).toBe(2);
  });
});

describe("a confirmation", () => {
  test("counts as refused without a terminal", async () => {
    await rig.up();
    await converse(rig, "first", ["say hello"]);
    mkdirSync(join(rig.folder, "empty"), { recursive: true });
    const { code, err } = await rig.run(["purge", "1", "--no-input"]);
    expect(code).toBe(2);
    expect(err).toContain("--yes erases it");
  });
});
