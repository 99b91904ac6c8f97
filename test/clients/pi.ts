import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, noNetwork, textsBelow } from "./agent-folders.ts";
import type { AgentRun, AgentStory } from "./agent-story.ts";
import { runProgram } from "./run-program.ts";

const limitMs = 120_000;

/** Runs all prompts but the last in one process; another process continues the session from its file. */
export async function runPi(
  program: string,
  { home, project, url, headers, prompts }: AgentRun,
): Promise<AgentStory> {
  const folder = join(home, ".pi", "agent");
  mkdirSync(folder, { recursive: true });
  const models = { providers: { anthropic: { baseUrl: url, headers } } };
  writeFileSync(join(folder, "models.json"), JSON.stringify(models));
  const env = { ...bareEnvironment(home), ...noNetwork, ...quiet, ANTHROPIC_API_KEY: "sk-test" };
  const run = (flags: readonly string[], texts: readonly string[]): Promise<string> => {
    const args = [program, "-p", "--mode", "json", "--model", "anthropic/claude-opus-4-7:medium"];
    const all = [...args, ...flags, ...texts];
    return runProgram({ program: process.execPath, args: all, cwd: project, env, limitMs });
  };
  const first = await run([], prompts.slice(0, -1));
  const last = await run(["--continue"], prompts.slice(-1));
  return {
    answers: [...answersIn(first), ...answersIn(last)],
    transcript: textsBelow(join(folder, "sessions")),
  };
}

const quiet = { PI_OFFLINE: "1", PI_TELEMETRY: "0" };

type OutputLine = { readonly type: string; readonly messages?: readonly Message[] };
type Message = {
  readonly role: string;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly errorMessage?: string;
};

/** The last answer to each prompt. */
function answersIn(output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  // The client's own format; a field that is missing fails in the comparison that uses it.
  const ends = lines.map((line) => JSON.parse(line) as OutputLine).filter(({ type }) => type === "agent_end");
  return ends.map(({ messages }) => answerOf(messages?.findLast(({ role }) => role === "assistant")));
}

function answerOf(message: Message | undefined): string {
  if (message?.errorMessage !== undefined) throw new Error(`pi failed: ${message.errorMessage}`);
  const texts = message?.content.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : []));
  return texts?.join("\n") ?? "nothing";
}
