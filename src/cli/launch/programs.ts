import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Environment } from "../../config/index.ts";

export type Around = { readonly env: Environment; readonly cwd: string };

/**
 * Where a program is, as a shell would find it; null if it is nowhere. A path is taken at its word, because
 * starting it says better what is wrong with it.
 */
export function findProgram(name: string, { env, cwd }: Around): string | null {
  if (name.includes("/")) return existsSync(resolve(cwd, name)) ? resolve(cwd, name) : null;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(resolve(cwd, folder), name)).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
