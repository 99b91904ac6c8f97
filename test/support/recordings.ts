import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Recording } from "../../src/transcripts/index.ts";

export type {
  RecordedBlock,
  RecordedMessage,
  RecordedTurn,
  Recording,
} from "../../src/transcripts/index.ts";

const largeSet = resolve("../shared/data");

/** Whether the large set lies beside the repository, of which it is no part. */
export const hasLargeSet = existsSync(join(largeSet, "agent-sessions"));

/** The large set, else the three small sessions that are part of the repository. */
export const recordingsFolder = hasLargeSet ? largeSet : resolve("test/fixtures/recordings");

export function recordingNames(folder = recordingsFolder): readonly string[] {
  const files = join(folder, "agent-sessions");
  if (!existsSync(files)) throw new Error(`There is no folder ${files}; see docs/reference/recordings.md.`);
  const names = readdirSync(files).filter((name) => name.endsWith(".json.gz"));
  return names.map((name) => name.replace(".json.gz", ""));
}

export function readRecording(name: string, folder = recordingsFolder): Recording {
  const bytes = readFileSync(join(folder, "agent-sessions", `${name}.json.gz`));
  return JSON.parse(gunzipSync(bytes).toString("utf8")) as Recording;
}
