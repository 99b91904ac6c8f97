import { statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Settings } from "../../config/index.ts";
import { bytesText } from "../format/numbers.ts";
import { type Finding, fine, warned } from "./finding.ts";

const freeBytesMin = 1_000_000_000;

export function checkMachine({ dataDir }: Pick<Settings, "dataDir">): readonly Finding[] {
  const freeBytes = freeBytesAt(resolve(dataDir));
  const node = fine("node", `${process.version}, ${process.platform}-${process.arch}`);
  if (freeBytes === null) return [node];
  const says = `${bytesText(freeBytes)} free where sessions are kept`;
  const disk =
    freeBytes >= freeBytesMin
      ? fine("disk", says)
      : warned("disk", says, "make room, or aperture gc, or choose another place with --data-dir");
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
