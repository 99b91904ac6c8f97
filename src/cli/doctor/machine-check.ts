import { statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config/index.ts";
import { bytesText } from "../format/number-text.ts";
import { type Diagnosis, passed, warning } from "./diagnosis.ts";

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
