import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config/index.ts";
import { tokenFileOf } from "../token.ts";
import { broken, type Finding, fine, warned } from "./finding.ts";

export function checkDirectory({ dataDir }: Pick<Settings, "dataDir">): Finding {
  const path = resolve(dataDir);
  const found = statOf(path);
  const elsewhere = "choose a folder of your own with --data-dir or APERTURE_DATA_DIR";
  if (found === null) {
    const parent = existingParent(path);
    return statOf(parent)?.isDirectory() === true && isWritable(parent)
      ? fine("data", `${path} will be made at the first start`)
      : broken("data", `${path} cannot be made: ${parent} is not a folder you may write to`, elsewhere);
  }
  if (!found.isDirectory()) return broken("data", `${path} is not a folder`, elsewhere);
  if (!isWritable(path))
    return broken("data", `${path} cannot be written`, `chmod u+rwx ${path}, or ${elsewhere}`);
  if ((found.mode & 0o077) !== 0) {
    return warned("data", `${path} is open to other users (${modeText(found)})`, `chmod 700 ${path}`);
  }
  return fine("data", `${path}, for its user alone`);
}

export function checkToken(settings: Pick<Settings, "dataDir" | "token">, isRunning: boolean): Finding {
  if (settings.token !== undefined) return fine("token", "from the settings");
  const path = tokenFileOf(settings);
  const found = statOf(path);
  if (found === null && !isRunning) return fine("token", "will be made at the first start");
  if (found === null) {
    const fix = "give the data directory Aperture was started with (--data-dir), or restart it";
    return broken("token", `Aperture runs, but there is no token in ${path}`, fix);
  }
  if ((found.mode & 0o077) !== 0) {
    return warned("token", `${path} can be read by other users (${modeText(found)})`, `chmod 600 ${path}`);
  }
  return fine("token", path);
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function existingParent(path: string): string {
  let parent = dirname(path);
  while (statOf(parent) === null && dirname(parent) !== parent) parent = dirname(parent);
  return parent;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function modeText({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
