// `aperture install` and `uninstall`: permanent addresses, and settings that are restored byte for byte.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());
beforeEach(() => {
  rmSync(rig.home, { recursive: true });
  mkdirSync(rig.home);
});

const at = (path: string) => join(rig.home, path);
const read = (path: string) => readFileSync(at(path), "utf8");

function write(path: string, text: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text, { mode });
}

/** Realistic settings: odd indentation, line ends, byte order marks and comments. */
const cases = [
  ["claude", ".claude/settings.json", '{\n\t"model": "opus",\n\t"env": {"A": "1"}\n}'],
  ["claude", ".claude/settings.json", '\uFEFF{"env":{"ANTHROPIC_BASE_URL":"https://gateway.example"}}\r\n'],
  ["codex", ".codex/config.toml", '# mine\r\nmodel = "gpt-6"\r\n\r\n[model_providers.lab]\r\nname = "lab"'],
  [
    "codex",
    ".codex/config.toml",
    'openai_base_url = "https://eu.api.openai.com/v1" # near\n[x]\nopenai_base_url = 1\n',
  ],
  ["gemini", ".gemini/.env", "export GEMINI_API_KEY=abc"],
  ["opencode", ".config/opencode/opencode.json", '{"provider":{"openai":{"options":{"timeout":5}}}}'],
  ["pi", ".pi/agent/models.json", '{\n  "providers": {}\n}\n'],
] as const;

describe.each(cases)("%s, %s with %j", (client, path, text) => {
  test("is installed, and restored byte for byte while Aperture is stopped", async () => {
    write(path, text, 0o640);
    const done = await rig.run(["install", client]);
    expect(done.code).toBe(0);
    expect(done.err).toContain("aperture up --detach");
    expect(read(path)).toContain(rig.url);
    expect(statSync(at(path)).mode & 0o777).toBe(0o640);
    const first = read(path);
    const again = await rig.run(["install", client]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("already installed") });
    expect(read(path)).toBe(first);
    const undone = await rig.run(["uninstall", client]);
    expect(undone).toMatchObject({ code: 0, out: expect.stringContaining(": restored") });
    expect(read(path)).toBe(text);
    expect((await rig.run(["uninstall", client])).err).toContain("Aperture has nothing in the settings");
  });
});

describe("a client without settings", () => {
  test.each(["claude", "codex", "gemini", "opencode", "pi"])("%s has none afterwards", async (client) => {
    const { out } = await rig.run(["install", client, "--json"]);
    const { written, backup } = JSON.parse(out) as { written: readonly string[]; backup: string };
    expect(written.length).toBeGreaterThan(0);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    await rig.run(["uninstall", client]);
    for (const path of [...written, backup]) expect(existsSync(path)).toBe(false);
  });
});

describe("the written settings", () => {
  test("are where each client looks, and other settings stay", async () => {
    write(".claude/settings.json", '{"env":{"A":"1"},"model":"opus"}');
    write(".codex/config.toml", '# mine\nmodel = "gpt-6"\n[x]\n');
    for (const client of ["claude", "codex", "gemini", "opencode", "pi"]) await rig.run(["install", client]);
    const env = { A: "1", ANTHROPIC_BASE_URL: rig.url };
    expect(JSON.parse(read(".claude/settings.json"))).toEqual({ env, model: "opus" });
    expect(read(".codex/config.toml")).toBe(
      `openai_base_url = "${rig.url}/openai/v1"\n# mine\nmodel = "gpt-6"\n[x]\n`,
    );
    expect(read(".gemini/.env")).toBe(`GOOGLE_GEMINI_BASE_URL=${rig.url}/gemini\n`);
    expect(JSON.parse(read(".gemini/settings.json"))).toEqual({
      security: { auth: { selectedType: "gemini-api-key" } },
    });
    expect(JSON.parse(read(".config/opencode/opencode.json"))).toMatchObject({
      provider: { google: { options: { baseURL: `${rig.url}/gemini/v1beta` } } },
    });
    expect(JSON.parse(read(".pi/agent/models.json"))).toMatchObject({
      providers: { anthropic: { baseUrl: rig.url } },
    });
  });

  test("keep a login method that the user chose", async () => {
    write(".gemini/settings.json", '{"security":{"auth":{"selectedType":"oauth-personal"}}}');
    await rig.run(["install", "gemini"]);
    expect(read(".gemini/settings.json")).toContain("oauth-personal");
  });

  test("are not written to a file with comments, and the values are printed", async () => {
    const text = '{\n  // mine\n  "provider": {}\n}';
    write(".config/opencode/opencode.json", text);
    const { code, err } = await rig.run(["install", "opencode"]);
    expect(code).toBe(1);
    expect(err).toContain(`provider.anthropic.options.baseURL = "${rig.url}/v1"`);
    expect(read(".config/opencode/opencode.json")).toBe(text);
  });

  test("are not written to a file that is not UTF-8", async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    write(".claude/settings.json", bytes);
    expect((await rig.run(["install", "claude"])).code).toBe(1);
    expect(readFileSync(at(".claude/settings.json"))).toEqual(bytes);
  });
});

describe("a file that changes after the install", () => {
  test("keeps the change, loses our address, and gets the replaced one back", async () => {
    write(".claude/settings.json", '{"env":{"ANTHROPIC_BASE_URL":"https://gateway.example"}}');
    await rig.run(["install", "claude"]);
    const now = JSON.parse(read(".claude/settings.json")) as Record<string, unknown>;
    write(".claude/settings.json", JSON.stringify({ ...now, model: "opus" }));
    await rig.run(["install", "claude", "--port", `${rig.port + 1}`]);
    expect(read(".claude/settings.json")).toContain(`:${rig.port + 1}`);
    const { out } = await rig.run(["uninstall", "claude"]);
    expect(out).toContain("settings.json");
    expect(JSON.parse(read(".claude/settings.json"))).toEqual({
      env: { ANTHROPIC_BASE_URL: "https://gateway.example" },
      model: "opus",
    });
  });

  test("loses a leftover loopback address with --clean, and keeps any other", async () => {
    write(".claude/settings.json", '{"env":{"ANTHROPIC_BASE_URL":"http://localhost:8787","A":"1"}}');
    expect((await rig.run(["uninstall", "claude", "--clean"])).code).toBe(0);
    expect(JSON.parse(read(".claude/settings.json"))).toEqual({ env: { A: "1" } });
    write(".claude/settings.json", '{"env":{"ANTHROPIC_BASE_URL":"https://gateway.example"}}');
    await rig.run(["uninstall", "claude", "--clean"]);
    expect(read(".claude/settings.json")).toContain("gateway.example");
  });
});

test("uninstall works with invalid settings, and install knows its clients", async () => {
  await rig.run(["install", "claude"]);
  const { code } = await rig.run(["uninstall", "claude"], { APERTURE_MODE: "bold" });
  expect(code).toBe(0);
  expect(existsSync(at(".claude/settings.json"))).toBe(false);
  expect((await rig.run(["install", "vim"])).code).toBe(2);
});
