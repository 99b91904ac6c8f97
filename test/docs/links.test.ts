import { expect, test } from "vitest";
import { repositoryFiles, repositoryPaths } from "../arch/files.ts";
import { brokenLinks } from "./markdown.ts";

test("relative links lead somewhere", () => {
  // A link may lead to a picture, which has no text.
  const bare = repositoryPaths().map((path) => [path, ""] as const);
  const files = new Map([...bare, ...repositoryFiles()]);
  const pages = [...files.keys()].filter((path) => path.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.flatMap((path) => brokenLinks(path, files))).toEqual([]);
});
