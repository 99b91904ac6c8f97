import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { environmentWith, loadSettings } from "./load-settings.ts";

const home = mkdtempSync(join(tmpdir(), "aperture-settings-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("flags override the environment, and the rest of it stays", () => {
  const env = { APERTURE_PORT: "1", APERTURE_HOST: "localhost", PATH: "/bin" };
  const flags = new Map([
    ["port", "2"],
    ["data-dir", "d"],
    ["json", ""],
  ]);
  expect(environmentWith(env, flags)).toEqual({
    APERTURE_PORT: "2",
    APERTURE_HOST: "localhost",
    APERTURE_DATA_DIR: "d",
    PATH: "/bin",
  });
});

test("a missing config file is a problem only if the user names it", () => {
  const path = join(home, "nowhere.json");
  expect(loadSettings({ env: { APERTURE_CONFIG: path }, home })).toEqual({
    ok: false,
    problems: [`There is no config file ${path}. Check --config or APERTURE_CONFIG, or create the file.`],
  });
});

test("a missing config file is fine; an unreadable one is a problem", () => {
  expect(loadSettings({ env: {}, home })).toMatchObject({ ok: true, settings: { port: 4400 } });
  mkdirSync(join(home, ".config", "aperture", "config.json"), { recursive: true });
  expect(loadSettings({ env: {}, home })).toEqual({
    ok: false,
    problems: [expect.stringContaining("config.json cannot be read: EISDIR")],
  });
  const path = join(home, "mine.json");
  writeFileSync(path, "{}");
  expect(loadSettings({ env: { APERTURE_CONFIG: path }, home })).toMatchObject({ ok: true });
});
