import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadSettings } from "../load-settings.ts";
import { readQuickSettings } from "./quick-settings.ts";

const home = mkdtempSync(join(tmpdir(), "aperture-place-"));
afterAll(() => rmSync(home, { recursive: true }));
mkdirSync(join(home, ".config", "aperture"), { recursive: true });
const file = { port: 4501, host: "localhost", dataDir: "/data/of/file", token: "t".repeat(20), mode: "ask" };
writeFileSync(join(home, ".config", "aperture", "config.json"), JSON.stringify(file));

test.each([
  ["the file", {}],
  [
    "the environment above it",
    { APERTURE_PORT: "4502", APERTURE_DATA_DIR: "/data/of/env", APERTURE_HOST: "[::1]" },
  ],
  ["no file", { XDG_CONFIG_HOME: "/nowhere/else" }],
  ["no file, and folders of the user", { XDG_CONFIG_HOME: "/nowhere", XDG_DATA_HOME: "/x/data" }],
  ["folders that are ignored", { XDG_CONFIG_HOME: "/nowhere", XDG_DATA_HOME: "relative" }],
  ["empty variables", { APERTURE_PORT: " ", APERTURE_TOKEN: "" }],
  ["another folder of settings", { XDG_CONFIG_HOME: "/nowhere" }],
])("the location equals that of the full settings: %s", (_, env) => {
  const read = loadSettings({ env, home });
  if (!read.ok) throw new Error(read.problems.join(" "));
  const { host, port, dataDir, token } = read.settings;
  const wanted = { host, port, dataDir, ...(token === undefined ? {} : { token }) };
  expect(readQuickSettings({ env, home })).toEqual(wanted);
});

test("an invalid port gives no location", () => {
  expect(readQuickSettings({ env: { APERTURE_PORT: "http" }, home })).toBeNull();
});
