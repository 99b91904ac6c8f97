// `aperture doctor` finds each planted fault, says how to end it, and finds nothing where nothing is wrong.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { freePort } from "../start/processes.ts";
import { type Environment, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.close());

type Examined = { readonly code: number | null; readonly found: readonly Finding[]; readonly text: string };

async function examine(args: readonly string[] = [], env: Environment = {}): Promise<Examined> {
  const text = await rig.run(["doctor", ...args], env);
  const json = await rig.run(["doctor", "--json", ...args], env);
  expect(json.code).toBe(text.code);
  const { v, findings } = JSON.parse(json.out) as { v: number; findings: readonly Finding[] };
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

describe("nothing wrong", () => {
  test("with a proxy: every line is ok, and the exit code is 0", async () => {
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

  test("without one: that is worth a look, and all there is", async () => {
    const { code, found, text } = await examine();
    expect(code).toBe(3);
    expect(found).toMatchObject([{ about: "proxy", result: "warn" }]);
    expect(text).toMatch(/^warn {2}proxy +Aperture is not running[\s\S]*fix: aperture up/m);
  });
});

describe("planted faults", () => {
  test("files that others can read", async () => {
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

  test("a token that is gone, and one that is wrong", async () => {
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
    expect(wrong.found[0]?.says).toContain("did not accept the token from APERTURE_TOKEN");
  });

  test("a data directory that is a file, and one below a file", async () => {
    const file = join(rig.folder, "a-file");
    writeFileSync(file, "");
    const { code, found } = await examine(["--data-dir", file]);
    expect(code).toBe(1);
    expect(found.at(-1)).toMatchObject({ about: "data", result: "fail" });
    expect((await examine(["--data-dir", join(file, "below")])).found.at(-1)?.says).toContain(
      "cannot be made",
    );
  });

  test("storage that does not work", async () => {
    const file = join(rig.folder, "b-file");
    writeFileSync(file, "");
    const env = { APERTURE_DATA_DIR: join(file, "data"), APERTURE_TOKEN: "t".repeat(20) };
    const started = rig.start(["up"], env);
    await started.saw(/storage degraded/);
    const { code, found } = await examine([], env);
    expect(code).toBe(1);
    expect(found.map(({ about }) => about)).toEqual(["storage", "recording", "data"]);
    expect(found[1]?.says).toMatch(/^paused since \d\d:\d\d:\d\d; requests still pass/);
    started.child.kill("SIGTERM");
  });

  test("settings that cannot be used", async () => {
    const { code, found } = await examine(["--port", "http"], { APERTURE_UPSTREAM_OPENAI: "not a url" });
    expect(code).toBe(1);
    expect(found.map(({ about }) => about)).toEqual(["settings", "settings"]);
  });

  test("an upstream that keys would travel to unencrypted", async () => {
    await rig.up();
    const { code, found } = await examine([], { APERTURE_UPSTREAM_OPENAI: "http://models.example" });
    expect(code).toBe(3);
    expect(found).toMatchObject([{ about: "upstreams", result: "warn" }]);
  });
});

describe("a client that goes elsewhere", () => {
  test("to a port where nothing listens: broken, wherever it is said", async () => {
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

  test("to another gateway: worth a look", async () => {
    await rig.up();
    wire("https://gateway.example");
    const { code, found } = await examine();
    expect(code).toBe(3);
    expect(found[0]?.says).toContain("beats what aperture run sets");
  });

  test("to us: fine while we run, broken while we do not", async () => {
    wire(rig.url);
    const { code, found } = await examine();
    expect(code).toBe(1);
    expect(found.at(-1)?.says).toContain("where Aperture does not run now");
    await rig.up();
    expect((await examine()).code).toBe(0);
  });

  test("said in a settings file of the folder, or where the client was told to keep its own", async () => {
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

  test("a settings file that is no JSON, and an address that is none", async () => {
    await rig.up();
    wire("nowhere");
    expect((await examine()).found[0]?.says).toContain("which is no address");
    writeFileSync(join(rig.home, ".claude", "settings.json"), "{");
    expect((await examine()).found).toMatchObject([{ about: "claude", result: "warn" }]);
  });
});

describe("traps that others fell into", () => {
  test("an upstream that refuses connections, of the proxy that runs or of the settings", async () => {
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

  test("an address left behind in the settings of any client, each with the command that ends it", async () => {
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

  test("a model whose large window the client hides behind another address", async () => {
    await rig.up();
    mkdirSync(join(rig.home, ".claude"));
    writeFileSync(join(rig.home, ".claude", "settings.json"), JSON.stringify({ model: "opus[1m]" }));
    expect((await examine()).found).toMatchObject([{ about: "claude", result: "warn" }]);
    const told = { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" };
    expect((await examine([], told)).code).toBe(0);
  });

  test("a subscription is named, with what holds for its sessions, and is nothing to worry about", async () => {
    await rig.up();
    mkdirSync(join(rig.home, ".claude"));
    writeFileSync(join(rig.home, ".claude", ".credentials.json"), "secret");
    const { code, text } = await examine();
    expect(code).toBe(0);
    expect(text).toMatch(/^ok {2}login +a subscription, passed on and never stored/m);
    expect(text).not.toContain("secret");
  });
});
