import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
   * Blocked: whatever is not for this machine goes to a proxy that is not there. Some versions leave out a
   * first knock at the address they were given when they know of a proxy; open shows it.
   */
  readonly outside: "blocked" | "open";
};

/** A home and a project of its own, so that neither a user's settings nor an earlier run can matter. */
export function prepareClaudeCode({ program, url, outside }: Setting): ClaudeCode {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "aperture-client-")));
  const home = join(folder, "home");
  const project = join(folder, "project");
  mkdirSync(home);
  mkdirSync(project);
  writeFileSync(join(home, ".claude.json"), JSON.stringify(seed(project)));
  const env = { ...environment(home, url), ...(outside === "blocked" ? nowhere : {}) };
  const runWith: ClaudeCode["runWith"] = (changes, prompt, ...flags) =>
    runClaude({ program, project, env: { ...env, ...changes }, prompt, flags });
  return {
    project,
    home,
    run: (prompt, ...flags) => runWith({}, prompt, ...flags),
    runWith,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
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

/** Made from nothing: a setting of whoever runs the tests must not reach the client. */
function environment(home: string, url: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    USERPROFILE: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_TELEMETRY: "1",
  };
}

const nowhere = { HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1,localhost" };

type Run = {
  readonly program: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prompt: string;
  readonly flags: readonly string[];
};

const tools = "Read,Write,Edit,Bash,Agent";

function runClaude({ program, project, env, prompt, flags }: Run): Promise<ClaudeResult> {
  const args = ["-p", prompt, "--output-format", "json", "--allowedTools", tools, ...flags];
  const child = spawn(program, args, {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: runMs,
    killSignal: "SIGKILL",
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const said = Buffer.concat(out).toString("utf8");
      if (code === 0) resolve(readResult(said));
      else reject(new Error(`Claude Code ended with ${code ?? signal}: ${said}\n${Buffer.concat(err)}`));
    });
  });
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
