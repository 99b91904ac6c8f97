// Settings and stored data: config, backup, verify and gc.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.close());

const configFile = () => join(rig.home, ".config", "aperture", "config.json");

describe("config", () => {
  test("set writes one setting to a private file, and keeps the rest", async () => {
    mkdirSync(join(configFile(), ".."), { recursive: true });
    writeFileSync(configFile(), '{"headers":"full"}');
    const { code, out, err } = await rig.run(["config", "set", "mode", "observe"]);
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toContain("at its next start");
    expect(JSON.parse(readFileSync(configFile(), "utf8"))).toEqual({ headers: "full", mode: "observe" });
    expect(statSync(configFile()).mode & 0o777).toBe(0o600);
    expect((await rig.run(["config", "get", "APERTURE_MODE"])).out).toBe("observe\n");
    expect((await rig.run(["config", "unset", "mode"])).code).toBe(0);
    expect(JSON.parse(readFileSync(configFile(), "utf8"))).toEqual({ headers: "full" });
  });

  test("an invalid value is refused, and nothing is written", async () => {
    const wrong = await rig.run(["config", "set", "mode", "bold"]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("must be auto, ask or observe");
    expect(existsSync(configFile())).toBe(false);
    const unknown = await rig.run(["config", "set", "mod", "ask"]);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("did you mean mode?") });
    expect((await rig.run(["config", "put", "mode"])).code).toBe(2);
    expect((await rig.run(["config", "set", "mode"])).code).toBe(2);
  });

  test("get shows values and sources, works with invalid settings, and hides the token", async () => {
    mkdirSync(join(configFile(), ".."), { recursive: true });
    writeFileSync(configFile(), '{"mode":"nonsense","token":"secret-secret-secret"}');
    const { code, out } = await rig.run(["config", "get", "--json"]);
    expect(code).toBe(0);
    expect((await rig.run(["config", "--json"])).out).toBe(out);
    expect(out).not.toContain("secret");
    const { settings } = JSON.parse(out) as {
      settings: readonly { name: string; value: string; from: string }[];
    };
    const of = (name: string) => settings.find((row) => row.name === name);
    expect(of("APERTURE_MODE")).toMatchObject({ value: "nonsense", from: "the config file" });
    expect(of("APERTURE_PORT")).toMatchObject({
      value: `${rig.port}`,
      from: expect.stringContaining("environment"),
    });
    expect(of("APERTURE_HEADERS")).toMatchObject({ value: "compact", from: "the default" });
    expect(of("APERTURE_TOKEN")).toMatchObject({ value: "(set)" });
    expect((await rig.run(["config", "set", "mode", "ask"])).code).toBe(0);
  });

  test("path shows the paths", async () => {
    expect((await rig.run(["config", "path", "-q"])).out).toBe(`${configFile()}\n`);
    const paths = JSON.parse((await rig.run(["config", "path", "--json"])).out) as Record<string, string>;
    expect(paths).toMatchObject({ v: 1, config: configFile(), data: rig.dataDir });
  });
});

describe.each(["runs", "does not run"])("while Aperture %s", (state) => {
  beforeEach(async () => {
    const app = await rig.up();
    await converse(rig, "first", ["say hello", "say more"]);
    if (state === "runs") return;
    app.child.kill("SIGTERM");
    await app.ended;
  });

  test("backup copies the database to a new file", async () => {
    const made = await rig.run(["backup", "copy.db"]);
    expect(made).toMatchObject({ code: 0, out: `${join(rig.folder, "copy.db")}\n` });
    expect(statSync(join(rig.folder, "copy.db")).mode & 0o077).toBe(0);
    const again = await rig.run(["backup", "copy.db"]);
    expect(again.code).toBe(1);
    expect((await rig.run(["backup", "-q"])).out).toMatch(/backup-\d{4}-\d\d-\d\dT[\d-]+Z\.db\n$/);
  });

  test("verify checks the store, and gc cleans it", async () => {
    const whole = await rig.run(["verify"]);
    expect(whole.code).toBe(0);
    expect(whole.out).toMatch(/^1 session, \d+ frames, \d+ contents, \d+ bodies, \d+ pages?, no damage\n$/);
    expect((await rig.run(["verify", "--tail"])).out).toContain(
      "the newest frames of every session, no damage",
    );
    expect((await rig.run(["gc"])).out).toMatch(/^deleted \d+ contents? and \d+ pages?, freed .*\n$/);
  });
});

test("a backup is a usable data directory", async () => {
  await rig.up();
  await converse(rig, "first", ["say hello"]);
  const other = join(rig.folder, "other");
  mkdirSync(other);
  expect((await rig.run(["backup", join(other, "aperture.db")])).code).toBe(0);
  const { code, out } = await rig.run([
    "cost",
    "session",
    "--json",
    "--data-dir",
    other,
    "--port",
    `${rig.port + 1}`,
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ total: { requests: 1 } });
});

test("verify finds bytes that changed on disk", async () => {
  const app = await rig.up();
  await converse(rig, "first", ["say hello", "say more"]);
  app.child.kill("SIGTERM");
  await app.ended;
  const script = `
    import { DatabaseSync } from "@photostructure/sqlite";
    const db = new DatabaseSync(process.argv[1]);
    db.exec("UPDATE contents SET bytes = zeroblob(length(bytes)) WHERE id = (SELECT max(id) FROM contents)");
    db.close();`;
  const path = join(rig.dataDir, "aperture.db");
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", script, path], { encoding: "utf8" });
  expect(done.stderr).toBe("");
  const { code, out } = await rig.run(["verify"]);
  expect(code).toBe(1);
  expect(out).toMatch(/[1-9]\d* damaged\n\S/);
});
