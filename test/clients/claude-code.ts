import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, makeFolders, nowhere } from "./agent-folders.ts";
import { runProgram } from "./run-program.ts";

/** What Claude Code says about one run in `--output-format json`. */
export type ClaudeResult = {
  readonly result: string;
  readonly isError: boolean;
  readonly session: string;
  readonly turns: number;
};

export type ClaudeCode = {
  /** The folder it works in. */
  readonly project: string;
  /** Where it keeps its settings and transcripts. */
  readonly home: string;
  /** One process from start to end. Fails if it does not end well, with everything it printed. */
  readonly run: (prompt: string, ...flags: readonly string[]) => Promise<ClaudeResult>;
  /** The same with some variables changed: another address, further headers. */
  readonly runWith: (
    changes: Readonly<Record<string, string>>,
    prompt: string,
    ...flags: readonly string[]
  ) => Promise<ClaudeResult>;
  readonly remove: () => void;
};

const key = "sk-test-0123456789abcdefghij";
const runMs = 60_000;

export type Setting = {
  readonly program: string;
  readonly url: string;
  /**
   * Some versions leave out a first knock at the address they were given when they know of a proxy; open
   * shows it.
   */
  readonly outside: "blocked" | "open";
};

export function prepareClaudeCode({ program, url, outside }: Setting): ClaudeCode {
  const { home, project, remove } = makeFolders();
  writeFileSync(join(home, ".claude.json"), JSON.stringify(seed(project)));
  const env = { ...environment(home, url), ...(outside === "blocked" ? nowhere : {}) };
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

/** Answers to the questions of a first start, which nobody is there to give. */
function seed(project: string): object {
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

type Run = {
  readonly program: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prompt: string;
  readonly flags: readonly string[];
};

const tools = "Read,Write,Edit,Bash,Agent";

async function runClaude({ program, project, env, prompt, flags }: Run): Promise<ClaudeResult> {
  const args = ["-p", prompt, "--output-format", "json", "--allowedTools", tools, ...flags];
  return readResult(await runProgram({ program, args, cwd: project, env, limitMs: runMs }));
}

function readResult(said: string): ClaudeResult {
  // The client's own format; a field that is missing fails in the comparison that uses it.
  const { result, is_error, session_id, num_turns } = JSON.parse(said) as { [name: string]: unknown };
  return {
    result: String(result),
    isError: is_error !== false,
    session: String(session_id),
    turns: Number(num_turns),
  };
}
