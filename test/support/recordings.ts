import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Recording } from "../../src/transcripts/index.ts";

export type {
  RecordedTurn,
  Recording,
  WireBlock,
  WireMessage,
  WireUsage,
} from "../../src/transcripts/index.ts";

/** A large set beside the repository, which is no part of it; else the three small sessions that are. */
export const recordingsFolder = [resolve("../shared/data"), resolve("test/fixtures/recordings")].find(
  (folder) => existsSync(join(folder, "agent-sessions")),
) as string;

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
