import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StrictUpstreamOptions } from "../../src/testing/index.ts";
import { type ClaudeCode, type ClaudeOptions, type ClaudeResult, prepareClaudeCode } from "./claude-code.ts";
import { type Recording, type Route, recordClient } from "./rig.ts";

/** The result of every step, and everything the steps left behind. */
export type Story = {
  readonly results: Readonly<{ [step: string]: ClaudeResult }>;
  /** The text of the file that a tool call edits. */
  readonly edited: string;
  readonly recording: Recording;
};

export type ScriptRun = {
  readonly program: string;
  readonly route: Route;
  /** A prompt for each step, in order. The first begins a session that the others continue. */
  readonly steps: (project: string) => Readonly<{ [step: string]: string }>;
  readonly upstream?: StrictUpstreamOptions;
  readonly flags?: readonly string[];
  readonly outside?: ClaudeOptions["outside"];
};

/** Plays the steps as one session over several processes, in a fresh project. */
export async function playScript(run: ScriptRun): Promise<Story> {
  const { program, route, upstream = {}, outside = "blocked" } = run;
  const { result, recording } = await recordClient({ ...upstream, route }, async (url) => {
    const claude = prepareClaudeCode({ program, url, outside });
    try {
      return await playSteps(claude, run);
    } finally {
      claude.remove();
    }
  });
  return { ...result, recording };
}

async function playSteps(
  claude: ClaudeCode,
  { steps, flags = [] }: ScriptRun,
): Promise<Omit<Story, "recording">> {
  const file = join(claude.project, "a.txt");
  writeFileSync(file, "alpha\nbeta\n");
  writeFileSync(join(claude.project, "b.txt"), "one\n");
  const results: { [step: string]: ClaudeResult } = {};
  for (const [step, prompt] of Object.entries(steps(claude.project))) {
    const isFirst = Object.keys(results).length === 0;
    results[step] = await claude.run(prompt, ...flags, ...(isFirst ? [] : ["--continue"]));
  }
  return { results, edited: readFileSync(file, "utf8") };
}

/** The upstream's agent follows the steps in the lines of a prompt. */
export function wholeSession(project: string): Readonly<{ [step: string]: string }> {
  return {
    plain: "say hello there",
    tools: toolLines(project),
    third: "say the third turn",
    agent: agentLines({ background: false }),
    // The client counts its own window, with many small requests side by side.
    count: "/context",
    compact: "/compact",
    after: "say after the compaction",
  };
}

export function shortSession(project: string): Readonly<{ [step: string]: string }> {
  return { plain: "say hello there", tools: toolLines(project), third: "say the third turn" };
}

export function backgroundSession(): Readonly<{ [step: string]: string }> {
  return { agent: agentLines({ background: true }), third: "say the third turn" };
}

export function toolLines(project: string): string {
  const a = join(project, "a.txt");
  const b = join(project, "b.txt");
  const bash = { command: "echo hi", description: "says hi" };
  const edit = { file_path: a, old_string: "beta", new_string: "gamma" };
  return [
    callLine("Read", { file_path: a }),
    `${callLine("Read", { file_path: b })} & ${callLine("Bash", bash)}`,
    callLine("Edit", edit),
    callLine("Nowhere", { reason: "no client has this tool" }),
    "say tools done",
  ].join("\n");
}

export function agentLines({ background }: { readonly background: boolean }): string {
  const bash = { command: "echo below", description: "says below" };
  const input = {
    description: "look around",
    prompt: `${callLine("Bash", bash)}\nsay the agent is done`,
    subagent_type: "general-purpose",
    run_in_background: background,
  };
  return `${callLine("Agent", input)}\nsay everything done`;
}

export function callLine(tool: string, input: object): string {
  return `call ${tool} ${JSON.stringify(input)}`;
}
