import { basename } from "node:path";
import type { Environment } from "../../config/index.ts";

export type Launch = {
  readonly program: string;
  readonly url: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Where others can reach the proxy, it asks its clients for the token. */
  readonly relayToken: string | null;
};

/** What a client is started with. Only this process tree sees it: nothing is left behind. */
export function clientEnvironment(launch: Launch): Environment {
  const { url, env } = launch;
  if (isClaude(launch.program)) {
    const headers = withHeaders(env["ANTHROPIC_CUSTOM_HEADERS"], ownHeaders(launch));
    return { ...env, ANTHROPIC_BASE_URL: url, ANTHROPIC_CUSTOM_HEADERS: headers };
  }
  return {
    ...env,
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/openai/v1`,
    GOOGLE_GEMINI_BASE_URL: `${url}/gemini`,
  };
}

export function isClaude(program: string): boolean {
  return basename(program) === "claude";
}

type Header = readonly [name: string, value: string];

function ownHeaders({ cwd, relayToken }: Launch): readonly Header[] {
  const project = projectName(cwd);
  return [
    ...(project === "" ? [] : [["X-Aperture-Project", project] as const]),
    ...(relayToken === null ? [] : [["X-Aperture-Token", relayToken] as const]),
  ];
}

/** A folder's name as it may stand in a header. */
export function projectName(cwd: string): string {
  return basename(cwd)
    .replace(/[^\x21-\x7e]+/g, "-")
    .slice(0, 200);
}

/** What the user set stays, also where it says the same thing otherwise. */
function withHeaders(existing: string | undefined, added: readonly Header[]): string {
  const lines = (existing ?? "").split(/\r?\n/).filter((line) => line.trim() !== "");
  const names = lines.map((line) => (line.split(":", 1)[0] ?? "").trim().toLowerCase());
  const missing = added.filter(([name]) => !names.includes(name.toLowerCase()));
  return [...lines, ...missing.map(([name, value]) => `${name}: ${value}`)].join("\n");
}
