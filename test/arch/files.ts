import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Every file of the repository: tracked, or new and not ignored. What is ignored is nobody's source. */
export function repositoryPaths(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { encoding: "utf8" });
  // What was deleted may still be in the index.
  return [...new Set(listed.split("\0"))].filter((path) => path !== "" && existsSync(path));
}

/** Those with text; binary files hold no lines. */
export function repositoryFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const path of repositoryPaths()) {
    const bytes = readFileSync(path);
    if (!bytes.includes(0)) files.set(path, bytes.toString("utf8"));
  }
  return files;
}

export function isCode(path: string): boolean {
  return /\.(?:tsx?|mts|mjs|js)$/.test(path);
}
