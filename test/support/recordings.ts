import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

/**
 * A recorded conversation: what the client kept and appended for each request, and what the model answered.
 */
export type Recording = {
  readonly id: string;
  readonly system: string | null;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly turns: readonly RecordedTurn[];
};
export type RecordedTurn = {
  /** How many messages the client kept; absent means all of them. */
  readonly k?: number;
  readonly c: readonly WireMessage[];
  readonly a: readonly WireBlock[];
  readonly m?: { readonly model?: string; readonly usage?: WireUsage };
};
export type WireUsage = {
  readonly in: number;
  readonly cr: number;
  readonly cw: number;
  readonly out: number;
};
export type WireMessage = { readonly role: string; readonly content: string | readonly WireBlock[] };
export type WireBlock = { readonly type: string; readonly [field: string]: unknown };

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
