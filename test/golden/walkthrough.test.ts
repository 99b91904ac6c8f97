// The page that follows one request is written from what the code does, so that it stays true.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repositoryFiles } from "../arch/files.ts";
import { playSession } from "./play-session.ts";
import { walkedCase, walkthroughText } from "./request-walkthrough.ts";
import { readSession } from "./session-file.ts";

const page = "docs/walkthrough/one-request.md";

test("the walkthrough is fresh; APERTURE_GOLDEN=write writes it anew", async () => {
  const session = readSession(walkedCase);
  const text = walkthroughText(await playSession(session));
  if (process.env["APERTURE_GOLDEN"] === "write") writeFileSync(page, text);
  expect(existsSync(page)).toBe(true);
  expect(text).toBe(readFileSync(page, "utf8"));
});

test("the files and cases it names are there", () => {
  const text = readFileSync(page, "utf8");
  const files = [...text.matchAll(/`([a-z-]+\.ts)`/g)].map(([, name]) => name);
  const cases = [...text.matchAll(/case `([a-z-]+)`/g)].map(([, name]) => `test/golden/cases/${name}`);
  expect(files.length).toBeGreaterThan(5);
  expect(cases.length).toBeGreaterThan(2);
  expect(cases.filter((path) => !existsSync(path))).toEqual([]);
  const sources = [...repositoryFiles().keys()].filter((path) => path.startsWith("src/"));
  expect(files.filter((name) => !sources.some((path) => path.endsWith(`/${name}`)))).toEqual([]);
});
