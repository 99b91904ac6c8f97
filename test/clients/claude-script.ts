import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StrictUpstreamOptions } from "../../src/testing/index.ts";
import { type ClaudeCode, type ClaudeResult, prepareClaudeCode, type Setting } from "./claude-code.ts";
import { type Recording, recordClient, type Way } from "./rig.ts";

/** What came of every step, and what the steps left behind. */
export type Story = {
  readonly results: Readonly<{ [step: string]: ClaudeResult }>;
  /** The file that one of the tools was asked to change. */
  readonly edited: string;
  readonly recording: Recording;
};

export type Telling = {
  readonly program: string;
  readonly way: Way;
  /** A prompt each, by name and in order. The first begins a session that the others continue. */
  readonly steps: (project: string) => Readonly<{ [step: string]: string }>;
  readonly upstream?: StrictUpstreamOptions;
  readonly flags?: readonly string[];
  readonly outside?: Setting["outside"];
};

/** Plays the steps as one session over several processes, in a project that nobody else uses. */
export async function tell(telling: Telling): Promise<Story> {
  const { program, way, upstream = {}, outside = "blocked" } = telling;
  const { result, recording } = await recordClient({ ...upstream, way }, async (url) => {
    const claude = prepareClaudeCode({ program, url, outside });
    try {
      return await play(claude, telling);
    } finally {
      claude.remove();
    }
  });
  return { ...result, recording };
}

async function play(claude: ClaudeCode, { steps, flags = [] }: Telling): Promise<Omit<Story, "recording">> {
  const file = join(claude.project, "a.txt");
  writeFileSync(file, "alpha\nbeta\n");
  writeFileSync(join(claude.project, "b.txt"), "one\n");
  const results: { [step: string]: ClaudeResult } = {};
  for (const [step, prompt] of Object.entries(steps(claude.project))) {
    const first = Object.keys(results).length === 0;
    results[step] = await claude.run(prompt, ...flags, ...(first ? [] : ["--continue"]));
  }
  return { results, edited: readFileSync(file, "utf8") };
}

/** The upstream's agent does what the lines of a prompt spell out. */
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
    callOf("Read", { file_path: a }),
    `${callOf("Read", { file_path: b })} & ${callOf("Bash", bash)}`,
    callOf("Edit", edit),
    callOf("Nowhere", { reason: "no client has this tool" }),
    "say tools done",
  ].join("\n");
}

export function agentLines({ background }: { readonly background: boolean }): string {
  const bash = { command: "echo below", description: "says below" };
  const input = {
    description: "look around",
    prompt: `${callOf("Bash", bash)}\nsay the agent is done`,
    subagent_type: "general-purpose",
    run_in_background: background,
  };
  return `${callOf("Agent", input)}\nsay everything done`;
}

export function callOf(tool: string, input: object): string {
  return `call ${tool} ${JSON.stringify(input)}`;
}
