import { expect, test } from "vitest";
import { repositoryFiles } from "../arch/files.ts";
import { brokenLinks } from "./markdown.ts";

test("relative links lead somewhere", () => {
  const files = repositoryFiles();
  const pages = [...files.keys()].filter((path) => path.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.flatMap((path) => brokenLinks(path, files))).toEqual([]);
});
