// ARCHITECTURE.md names files and folders; each must exist, or a reader searches in vain.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { repositoryFiles, repositoryPaths } from "../arch/files.ts";
import { page } from "./markdown.ts";

const text = page("ARCHITECTURE.md");
const names = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = ""]) => name);

test("every file it names by one word is in src", () => {
  const isFileName = (name: string): boolean => /^[a-z]+(?:-[a-z]+)*$/.test(name);
  const words = new Set([
    "src",
    "unknown",
    "panel",
    "test",
    "bench",
    "examples",
    "scripts",
    "docs",
    "app",
    "planner",
    "threads",
    "plan",
  ]);
  const files = new Set(
    repositoryPaths()
      .filter((path) => path.startsWith("src/"))
      .map((path) => basename(path).replace(/\.ts$/, "")),
  );
  const named = names.filter((name) => isFileName(name) && !words.has(name) && name !== "aperture");
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !files.has(name))).toEqual([]);
});

test("every path it names exists", () => {
  const paths = names.filter((name) => /^(?:src|test|docs|panel)\//.test(name) && name !== "src/sidecar");
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test("every type it names is declared", () => {
  const source = [...repositoryFiles()]
    .filter(([path]) => path.startsWith("src/"))
    .map(([, code]) => code)
    .join("\n");
  const types = names.filter((name) => /^[A-Z][A-Za-z]+$/.test(name));
  expect(types.length).toBeGreaterThan(3);
  expect(types.filter((name) => !new RegExp(`(?:type|class|interface) ${name}\\b`).test(source))).toEqual([]);
});

test("a file it places in a folder is in that folder", () => {
  const lists = text.matchAll(/((?:`[a-z-]+`(?: or |, | and )?)+) in `(src\/[a-z/]+)`/g);
  const claims = [...lists].flatMap(([, files = "", folder = ""]) =>
    [...files.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => ({ name, folder })),
  );
  const paths = repositoryPaths();
  const isThere = ({ name, folder }: { name: string; folder: string }): boolean =>
    paths.some((path) => path.startsWith(`${folder}/`) && basename(path) === `${name}.ts`);
  expect(claims.length).toBeGreaterThan(10);
  expect(claims.filter((claim) => !isThere(claim))).toEqual([]);
});
