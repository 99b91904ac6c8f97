import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Every text file of the repository: tracked, or new and not ignored. What is ignored is nobody's source. */
export function repositoryFiles(): Map<string, string> {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { encoding: "utf8" });
  const files = new Map<string, string>();
  for (const path of new Set(listed.split("\0"))) {
    // Deleted but still in the index; and binary files hold no lines.
    if (path === "" || !existsSync(path)) continue;
    const bytes = readFileSync(path);
    if (!bytes.includes(0)) files.set(path, bytes.toString("utf8"));
  }
  return files;
}

export function isCode(path: string): boolean {
  return /\.(?:ts|mts|mjs|js)$/.test(path);
}
