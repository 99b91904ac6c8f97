// `npm test -- NAME` finds tests for every folder of src, and the help says which suite covers it.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { jobsFor } from "../../scripts/test.mjs";
import { suites } from "../suites.mjs";

const folders = readdirSync("src", { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(folders)("src/%s has unit tests or a suite", (folder) => {
  expect(jobsFor(folder)).not.toEqual([]);
});

test("a suite covers folders that exist", () => {
  const covered = suites.flatMap(({ covers = [] }) => covers);
  expect(covered.filter((folder) => !existsSync(`src/${folder}`))).toEqual([]);
});

test("the help names every suite with what it is for, what it covers and what --long adds", () => {
  const { stdout, status } = spawnSync(process.execPath, ["scripts/run.mjs", "test", "--help"], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  for (const { name, about, covers = [], long } of suites) {
    const line = stdout.split("\n").find((one) => one.startsWith(`  ${name} `)) ?? "";
    for (const part of [about, ...covers, long ?? ""]) expect(line).toContain(part);
  }
});
