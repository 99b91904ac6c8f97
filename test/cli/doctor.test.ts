// `aperture doctor` finds each planted fault with a fix, and nothing in a working setup.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Diagnosis } from "../../src/cli/doctor/diagnosis.ts";
import { freePort } from "../start/processes.ts";
import { type Environment, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.close());

type Examination = {
  readonly code: number | null;
  readonly found: readonly Diagnosis[];
  readonly text: string;
};

async function examine(args: readonly string[] = [], env: Environment = {}): Promise<Examination> {
  const text = await rig.run(["doctor", ...args], env);
  const json = await rig.run(["doctor", "--json", ...args], env);
  expect(json.code).toBe(text.code);
  const { v, findings } = JSON.parse(json.out) as { v: number; findings: readonly Diagnosis[] };
  expect(v).toBe(1);
  return { code: text.code, found: findings.filter(({ result }) => result !== "ok"), text: text.out };
}

/** The settings file of the client, with an address in it. */
function wire(url: string): void {
  mkdirSync(join(rig.home, ".claude"), { recursive: true });
  writeFileSync(
    join(rig.home, ".claude", "settings.json"),
    JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } }),
  );
}

describe("a working setup", () => {
  test("with a running Aperture passes every check", async () => {
    await rig.up();
    const { code, found, text } = await examine();
    expect({ code, found }).toEqual({ code: 0, found: [] });
    for (const line of text.trimEnd().split("\n")) expect(line).toMatch(/^ok {2}\S/);
    for (const about of [
      "settings",
      "proxy",
      "storage",
      "recording",
      "token",
      "data",
      "upstreams",
      "reach",
      "disk",
      "clients",
    ]) {
      expect(text).toContain(`  ${about} `);
    }
  });

  test("without a running Aperture has one warning", async () => {
    const { code, found, text } = await examine();
    expect(code).toBe(3);
    expect(found).toMatchObject([{ about: "proxy", result: "warn" }]);
    expect(text).toMatch(/^warn {2}proxy +Aperture is not running[\s\S]*fix: aperture up/m);
  });
});

describe("planted faults", () => {
  test("files that other users can read", async () => {
    await rig.up();
    chmodSync(join(rig.dataDir, "token"), 0o644);
    chmodSync(rig.dataDir, 0o755);
    const { code, found } = await examine();
    expect(code).toBe(3);
    expect(found).toMatchObject([
      { about: "token", result: "warn", fix: `chmod 600 ${join(rig.dataDir, "token")}` },
      { about: "data", result: "warn", fix: `chmod 700 ${rig.dataDir}` },
    ]);
  });

  test("a missing token, and a wrong one", async () => {
    await rig.up();
    rmSync(join(rig.dataDir, "token"));
    const gone = await examine();
    expect(gone.code).toBe(1);
    expect(gone.found).toMatchObject([
      { about: "proxy", result: "fail" },
      { about: "token", result: "fail" },
    ]);
    const wrong = await examine([], { APERTURE_TOKEN: "wrong" });
    expect(wrong.code).toBe(1);
    expect(wrong.found[0]?.says).toContain("rejected the token from APERTURE_TOKEN");
  });

  test("a data directory that is a file, and one below a file", async () => {
    const file = join(rig.folder, "a-file");
    writeFileSync(file, "");
    const { code, found } = await examine(["--data-dir", file]);
    expect(code).toBe(1);
    expect(found.at(-1)).toMatchObject({ about: "data", result: "fail" });
    expect((await examine(["--data-dir", join(file, "below")])).found.at(-1)?.says).toContain(
      "cannot be created",
    );
  });

  test("a store that cannot be written", async () => {
    const file = join(rig.folder, "b-file");
    writeFileSync(file, "");
    const env = { APERTURE_DATA_DIR: join(file, "data"), APERTURE_TOKEN: "t".repeat(20) };
    const started = rig.start(["up"], env);
    await started.saw(/storage degraded/);
    await started.saw(/listening on/);
    const { code, found } = await examine([], env);
    expect(code).toBe(1);
    expect(found.map(({ about }) => about)).toEqual(["storage", "recording", "data"]);
    expect(found[1]?.says).toMatch(/^paused since \d\d:\d\d:\d\d; requests still pass/);
    started.child.kill("SIGTERM");
  });

  test("invalid settings", async () => {
    const { code, found } = await examine(["--port", "http"], { APERTURE_UPSTREAM_OPENAI: "not a url" });
    expect(code).toBe(1);
    expect(found.map(({ about }) => about)).toEqual(["settings", "settings"]);
  });

  test("an upstream without encryption", async () => {
    await rig.up();
    const { code, found } = await examine([], { APERTURE_UPSTREAM_OPENAI: "http://models.example" });
    expect(code).toBe(3);
    expect(found).toMatchObject([{ about: "upstreams", result: "warn" }]);
  });
});

describe("a client with another address", () => {
  test("where nothing listens is a failure, in a file and in the environment", async () => {
    await rig.up();
    const url = `http://127.0.0.1:${await freePort()}`;
    wire(url);
    const inFile = await examine();
    expect(inFile.code).toBe(1);
    expect(inFile.found).toMatchObject([{ about: "claude", result: "fail" }]);
    expect(inFile.found[0]?.says).toContain("nothing listens");
    const inBoth = await examine([], { ANTHROPIC_BASE_URL: url });
    expect(inBoth.found).toHaveLength(2);
  });

  test("of another gateway is a warning", async () => {
    await rig.up();
    wire("https://gateway.example");
    const { code, found } = await examine();
    expect(code).toBe(3);
    expect(found[0]?.says).toContain("overrides aperture run");
  });

  test("of Aperture passes only while Aperture runs", async () => {
    wire(rig.url);
    const { code, found } = await examine();
    expect(code).toBe(1);
    expect(found.at(-1)?.says).toContain("where Aperture is not running");
    await rig.up();
    expect((await examine()).code).toBe(0);
  });

  test("in the settings of the folder, or in a config folder of the client, is found", async () => {
    await rig.up();
    const settings = JSON.stringify({ env: { ANTHROPIC_BASE_URL: "https://gateway.example" } });
    mkdirSync(join(rig.folder, ".claude"));
    writeFileSync(join(rig.folder, ".claude", "settings.local.json"), settings);
    expect((await examine()).found[0]?.says).toContain(join(rig.folder, ".claude", "settings.local.json"));
    rmSync(join(rig.folder, ".claude"), { recursive: true });
    const own = join(rig.folder, "claude-config");
    mkdirSync(own);
    writeFileSync(join(own, "settings.json"), settings);
    expect((await examine([], { CLAUDE_CONFIG_DIR: own })).found[0]?.says).toContain(own);
  });

  test("in invalid JSON, or that is not a URL, is reported", async () => {
    await rig.up();
    wire("nowhere");
    expect((await examine()).found[0]?.says).toContain("which is not a URL");
    writeFileSync(join(rig.home, ".claude", "settings.json"), "{");
    expect((await examine()).found).toMatchObject([{ about: "claude", result: "warn" }]);
  });
});

describe("known traps", () => {
  test("an upstream that refuses connections, of the running Aperture or of the settings", async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const down = await examine([], { APERTURE_UPSTREAM_ANTHROPIC: dead });
    expect(down.code).toBe(1);
    expect(down.found).toMatchObject([
      { about: "proxy", result: "warn" },
      {
        about: "reach",
        result: "fail",
        fix: expect.stringContaining("aperture config set upstreamAnthropic"),
      },
    ]);
    expect(down.found[1]?.says).toContain("refuses connections");
    await rig.up();
    await rig.upstream.close();
    expect((await examine()).found).toMatchObject([{ about: "reach", result: "fail" }]);
  });

  test("an address left behind in the settings of any client, with the command that removes it", async () => {
    await rig.up();
    const other = rig.port === 4400 ? 4401 : 4400;
    for (const client of ["claude", "codex", "gemini", "opencode", "pi"]) {
      await rig.run(["install", client, "--port", `${await freePort()}`]);
    }
    expect(other).toBeGreaterThan(0);
    const { code, found } = await examine();
    expect(code).toBe(1);
    for (const client of ["claude", "codex", "gemini", "opencode", "pi"]) {
      const dead = found.find(({ about, result }) => about === client && result === "fail");
      expect(dead).toMatchObject({ fix: `aperture uninstall ${client} --clean` });
      const moved = found.find(({ about, result }) => about === client && result === "warn");
      expect(moved).toMatchObject({ fix: `aperture install ${client}` });
      await rig.run(["install", client]);
    }
    expect((await examine()).code).toBe(0);
  });

  test("a model whose large window the client hides behind an unknown address", async () => {
    await rig.up();
    mkdirSync(join(rig.home, ".claude"));
    writeFileSync(join(rig.home, ".claude", "settings.json"), JSON.stringify({ model: "opus[1m]" }));
    expect((await examine()).found).toMatchObject([{ about: "claude", result: "warn" }]);
    const assumed = { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" };
    expect((await examine([], assumed)).code).toBe(0);
  });

  test("a subscription login passes, and its consent is reported", async () => {
    await rig.up();
    mkdirSync(join(rig.home, ".claude"));
    writeFileSync(join(rig.home, ".claude", ".credentials.json"), "secret");
    const { code, text } = await examine();
    expect(code).toBe(0);
    expect(text).toMatch(/^ok {2}login +a subscription login, relayed and never stored/m);
    expect(text).not.toContain("secret");
  });
});
