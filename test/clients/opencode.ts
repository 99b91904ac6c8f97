import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, nowhere } from "./agent-folders.ts";
import type { AgentRun, AgentStory } from "./agent-story.ts";

const model = { providerID: "anthropic", modelID: "claude-opus-5-5" };
const startMs = 60_000;
const promptMs = 60_000;

/**
 * One process, talked to as its own screen talks to it: a program that starts anew for every prompt costs six
 * seconds each, and is the same program.
 */
export async function runOpencode(
  program: string,
  { home, project, url, headers, prompts }: AgentRun,
): Promise<AgentStory> {
  writeFileSync(join(project, "opencode.json"), JSON.stringify(settings(url, headers)));
  const env = { ...bareEnvironment(home), ...nowhere, ...quiet };
  const server = startServer({ program, project, env });
  try {
    const base = await server.listens;
    const { id } = await post<{ readonly id: string }>(`${base}/session`, {});
    const said: string[] = [];
    for (const prompt of prompts) {
      const parts = [{ type: "text", text: prompt }];
      said.push(textOf(await post<Answer>(`${base}/session/${id}/message`, { model, parts })));
    }
    const kept = await fetch(`${base}/session/${id}/message`);
    return { said, transcript: await kept.text() };
  } finally {
    await server.stop();
  }
}

/** What it would fetch, update or watch by itself has no part in what is tested. */
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

type Server = { readonly listens: Promise<string>; readonly stop: () => Promise<void> };
type Start = { readonly program: string; readonly project: string; readonly env: NodeJS.ProcessEnv };

/** It takes a port of its choice, and says which. */
function startServer({ program, project, env }: Start): Server {
  const args = ["serve", "--hostname", "127.0.0.1", "--port", "0"];
  const child = spawn(program, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  const listens = new Promise<string>((resolve, reject) => {
    let said = "";
    const fail = (why: string): void => reject(new Error(`opencode ${why}: ${said}`));
    const timer = setTimeout(() => fail(`did not listen within ${startMs} ms`), startMs);
    const hear = (chunk: Buffer): void => {
      said += chunk.toString("utf8");
      const found = /listening on (http:\S+)\s/.exec(said)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    void ended.then(() => fail("ended before it listened"));
  });
  return {
    listens,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
