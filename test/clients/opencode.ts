import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, noNetwork } from "./agent-folders.ts";
import type { AgentRun, AgentStory } from "./agent-story.ts";

const model = { providerID: "anthropic", modelID: "claude-opus-5-5" };
const startMs = 60_000;
const promptMs = 60_000;

/**
 * Runs one server process and uses the API that its own screen uses: a process for every prompt would cost
 * six seconds each, and run the same code.
 */
export async function runOpencode(
  program: string,
  { home, project, url, headers, prompts }: AgentRun,
): Promise<AgentStory> {
  writeFileSync(join(project, "opencode.json"), JSON.stringify(settings(url, headers)));
  const env = { ...bareEnvironment(home), ...noNetwork, ...quiet };
  const server = startServer({ program, project, env });
  try {
    const base = await server.url;
    const { id } = await post<{ readonly id: string }>(`${base}/session`, {});
    const answers: string[] = [];
    for (const prompt of prompts) {
      const parts = [{ type: "text", text: prompt }];
      answers.push(textOf(await post<Answer>(`${base}/session/${id}/message`, { model, parts })));
    }
    const transcript = await fetch(`${base}/session/${id}/message`);
    return { answers, transcript: await transcript.text() };
  } finally {
    await server.stop();
  }
}

/** Turns off downloads, updates and watchers, which are not under test. */
const quiet = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: "1",
};

function settings(url: string, headers: AgentRun["headers"]): object {
  return {
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    lsp: false,
    formatter: false,
    provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "sk-test", headers } } },
  };
}

type Answer = {
  readonly info: { readonly error?: unknown };
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
};

function textOf({ info, parts }: Answer): string {
  if (info.error !== undefined) throw new Error(`opencode failed: ${JSON.stringify(info.error)}`);
  return parts.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])).join("\n");
}

async function post<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(promptMs),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`opencode answered ${response.status}: ${text}`);
  // The client's own format; a field that is missing fails in the comparison that uses it.
  return JSON.parse(text) as T;
}

type Server = { readonly url: Promise<string>; readonly stop: () => Promise<void> };
type ServerOptions = { readonly program: string; readonly project: string; readonly env: NodeJS.ProcessEnv };

/** The server takes a free port and prints it. */
function startServer({ program, project, env }: ServerOptions): Server {
  const args = ["serve", "--hostname", "127.0.0.1", "--port", "0"];
  const child = spawn(program, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  const url = new Promise<string>((resolve, reject) => {
    let output = "";
    const fail = (why: string): void => reject(new Error(`opencode ${why}: ${output}`));
    const timer = setTimeout(() => fail(`did not listen within ${startMs} ms`), startMs);
    const readOutput = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
      const found = /listening on (http:\S+)\s/.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on("data", readOutput);
    child.stderr.on("data", readOutput);
    child.once("error", reject);
    void ended.then(() => fail("ended before it listened"));
  });
  return {
    url,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
