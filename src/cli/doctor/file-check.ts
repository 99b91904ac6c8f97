import { accessSync, constants, type Stats, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config/index.ts";
import { tokenFileOf } from "../api/api-token.ts";
import { bytesText } from "../format/number-text.ts";
import { type Diagnosis, failure, passed, warning } from "./diagnosis.ts";

export function checkDirectory({ dataDir }: Pick<Settings, "dataDir">): Diagnosis {
  const path = resolve(dataDir);
  const found = statOf(path);
  const elsewhere = "choose your own folder with --data-dir or APERTURE_DATA_DIR";
  if (found === null) {
    const parent = existingParent(path);
    return statOf(parent)?.isDirectory() === true && isWritable(parent)
      ? passed("data", `${path} will be created at the first start`)
      : failure(
          "data",
          `${path} cannot be created: ${parent} is not a folder that you may write to`,
          elsewhere,
        );
  }
  if (!found.isDirectory()) return failure("data", `${path} is not a folder`, elsewhere);
  if (!isWritable(path))
    return failure("data", `${path} cannot be written`, `chmod u+rwx ${path}, or ${elsewhere}`);
  if ((found.mode & 0o077) !== 0) {
    return warning("data", `other users can open ${path} (mode ${modeText(found)})`, `chmod 700 ${path}`);
  }
  return passed("data", `${path}, private`);
}

export function checkToken(settings: Pick<Settings, "dataDir" | "token">, isRunning: boolean): Diagnosis {
  if (settings.token !== undefined) return passed("token", "from the settings");
  const path = tokenFileOf(settings);
  const found = statOf(path);
  if (found === null && !isRunning) return passed("token", "will be created at the first start");
  if (found === null) {
    const fix = "give the data directory of the running Aperture with --data-dir, or restart it";
    return failure("token", `Aperture is running, but there is no token in ${path}`, fix);
  }
  if ((found.mode & 0o077) !== 0) {
    return warning("token", `other users can read ${path} (mode ${modeText(found)})`, `chmod 600 ${path}`);
  }
  return passed("token", path);
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

const freeBytesMin = 1_000_000_000;

export function checkMachine({ dataDir }: Pick<Settings, "dataDir">): readonly Diagnosis[] {
  const freeBytes = freeBytesAt(resolve(dataDir));
  const node = passed("node", `${process.version}, ${process.platform}-${process.arch}`);
  if (freeBytes === null) return [node];
  const says = `${bytesText(freeBytes)} free for the data directory`;
  const disk =
    freeBytes >= freeBytesMin
      ? passed("disk", says)
      : warning("disk", says, "free disk space, run aperture gc, or choose another folder with --data-dir");
  return [node, disk];
}

function freeBytesAt(path: string): number | null {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {
      if (dirname(folder) === folder) return null;
    }
  }
}
