import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, makeFolders, noNetwork } from "./agent-folders.ts";
import { runProgram } from "./run-program.ts";

/** The output of one run with `--output-format json`. */
export type ClaudeResult = {
  readonly result: string;
  readonly isError: boolean;
  readonly session: string;
  readonly turns: number;
};

export type ClaudeCode = {
  /** The folder it works in. */
  readonly project: string;
  /** The folder of its settings and transcripts. */
  readonly home: string;
  /** Runs one process. If it fails, the error holds everything it printed. */
  readonly run: (prompt: string, ...flags: readonly string[]) => Promise<ClaudeResult>;
  /** The same with other environment variables, such as another address or more headers. */
  readonly runWith: (
    changes: Readonly<Record<string, string>>,
    prompt: string,
    ...flags: readonly string[]
  ) => Promise<ClaudeResult>;
  readonly remove: () => void;
};

const key = "sk-test-0123456789abcdefghij";
const runMs = 60_000;

export type ClaudeOptions = {
  readonly program: string;
  readonly url: string;
  /** Some versions first probe their address, but not behind a proxy; "open" shows the probe. */
  readonly outside: "blocked" | "open";
};

export function prepareClaudeCode({ program, url, outside }: ClaudeOptions): ClaudeCode {
  const { home, project, remove } = makeFolders();
  writeFileSync(join(home, ".claude.json"), JSON.stringify(firstStartSettings(project)));
  const env = { ...environment(home, url), ...(outside === "blocked" ? noNetwork : {}) };
  const runWith: ClaudeCode["runWith"] = (changes, prompt, ...flags) =>
    runClaude({ program, project, env: { ...env, ...changes }, prompt, flags });
  return {
    project,
    home,
    run: (prompt, ...flags) => runWith({}, prompt, ...flags),
    runWith,
    remove,
  };
}

/** Answers to the questions that a first start would ask a user. */
function firstStartSettings(project: string): object {
  return {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true } },
  };
}

function environment(home: string, url: string): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(home),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_TELEMETRY: "1",
  };
}

type ClaudeRun = {
  readonly program: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prompt: string;
  readonly flags: readonly string[];
};

const tools = "Read,Write,Edit,Bash,Agent";

async function runClaude({ program, project, env, prompt, flags }: ClaudeRun): Promise<ClaudeResult> {
  const args = ["-p", prompt, "--output-format", "json", "--allowedTools", tools, ...flags];
  return readResult(await runProgram({ program, args, cwd: project, env, limitMs: runMs }));
}

function readResult(output: string): ClaudeResult {
  // The client's own format; a field that is missing fails in the comparison that uses it.
  const { result, is_error, session_id, num_turns } = JSON.parse(output) as { [name: string]: unknown };
  return {
    result: String(result),
    isError: is_error !== false,
    session: String(session_id),
    turns: Number(num_turns),
  };
}
