import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UpstreamExchange } from "../../src/testing/index.ts";
import { textsBelow } from "./agent-folders.ts";
import { type ClaudeResult, prepareClaudeCode } from "./claude-code.ts";
import { type LogSummary, summarizeLogs } from "./every-verb-check.ts";
import { type ClaudeVersion, installClients } from "./install.ts";
import { type Pair, pairsOf, type RigOptions, startManagedRig } from "./managed-rig.ts";
import type { Exchange } from "./tap.ts";

/** One process of Claude Code. All of them continue one session. */
export type ClaudeTurn = {
  readonly prompt: string;
  readonly env?: Readonly<Record<string, string>>;
};
export type ClaudeScene = { readonly project: string; readonly direct: string };
export type ClaudePlay = {
  readonly version: ClaudeVersion;
  readonly turns: (scene: ClaudeScene) => readonly ClaudeTurn[];
  readonly files?: Readonly<Record<string, string>>;
  /** Another model than the version's usual one. */
  readonly model?: string;
  readonly options?: RigOptions;
};
export type ManagedStory = {
  readonly results: readonly ClaudeResult[];
  readonly near: readonly Exchange[];
  readonly exchanges: readonly UpstreamExchange[];
  readonly pairs: readonly Pair[];
  /** The client's own transcript of the session. */
  readonly transcript: string;
  readonly logs: LogSummary;
};

/** Plays one session of Claude Code through Aperture, in a home and a project of its own. */
export async function playClaude({
  version,
  turns,
  model,
  files = {},
  options = {},
}: ClaudePlay): Promise<ManagedStory> {
  const program = (await installClients()).claudeCode(version);
  const rig = await startManagedRig(options);
  const claude = prepareClaudeCode({ program, url: rig.url, outside: "blocked" });
  try {
    for (const [name, text] of Object.entries({ ...usualFiles, ...files }))
      writeFileSync(join(claude.project, name), text);
    const modelFlags = model === undefined ? [] : ["--model", model];
    const results: ClaudeResult[] = [];
    for (const { prompt, env = {} } of turns({
      project: claude.project,
      direct: rig.upstream.url,
    })) {
      const continued = results.length === 0 ? [] : ["--continue"];
      results.push(await claude.runWith(env, prompt, ...modelFlags, ...continued));
    }
    const near = rig.near();
    const exchanges = [...rig.upstream.exchanges];
    const transcript = textsBelow(join(claude.home, ".claude", "projects"));
    const logs = await summarizeLogs(rig.app);
    return { results, near, exchanges, transcript, logs, pairs: pairsOf(near, exchanges) };
  } finally {
    claude.remove();
    await rig.close();
  }
}

const usualFiles = { "a.txt": "alpha\nbeta\n", "b.txt": "one\n" };
