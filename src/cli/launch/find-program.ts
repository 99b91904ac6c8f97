import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Environment } from "../../config/index.ts";

/**
 * The path of a program, found as a shell does, or null. A given path is taken as it is, because starting it
 * reports best what is wrong with it.
 */
export function findProgram(
  name: string,
  { env, cwd }: { readonly env: Environment; readonly cwd: string },
): string | null {
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
