import { basename } from "node:path";
import type { Environment } from "../../config/index.ts";
import {
  type ClientName,
  clientVariables,
  isClientName,
  opencodeConfig,
  providerAddresses,
} from "./client-addresses.ts";

export type ClientLaunch = {
  readonly program: string;
  readonly url: string;
  readonly env: Environment;
  readonly cwd: string;
  /** A proxy that other machines can reach requires its token from clients. */
  readonly relayToken: string | null;
  /** Requests to Anthropic end at Anthropic's own address. */
  readonly isFirstParty?: boolean;
  /** The proxy must send this client's requests unchanged. */
  readonly isObserved?: boolean;
};

/**
 * Behind an unknown address, Claude Code leaves out features that only Anthropic offers, such as the 1M
 * window.
 */
const firstParty = { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" };

/** The environment of a client. Only its process tree sees it: nothing is left behind. */
export function clientEnvironment(launch: ClientLaunch): Environment {
  const { url, env } = launch;
  const { anthropic, openai, gemini } = providerAddresses(url);
  const client = clientOf(launch.program);
  switch (client) {
    case "claude": {
      const headers = withHeaders(env["ANTHROPIC_CUSTOM_HEADERS"], ownHeaders(launch), "\n");
      const assumed = launch.isFirstParty === true ? firstParty : {};
      return {
        ...assumed,
        ...env,
        ...clientVariables(client, url).variables,
        ANTHROPIC_CUSTOM_HEADERS: headers,
      };
    }
    case "gemini": {
      const headers = withHeaders(env["GEMINI_CLI_CUSTOM_HEADERS"], ownHeaders(launch), ", ");
      return { ...env, ...clientVariables(client, url).variables, GEMINI_CLI_CUSTOM_HEADERS: headers };
    }
    case "opencode":
      return {
        ...env,
        OPENCODE_CONFIG_CONTENT: mergeConfig(env["OPENCODE_CONFIG_CONTENT"], opencodeConfig(url)),
      };
    default:
      return {
        ...env,
        ANTHROPIC_BASE_URL: anthropic,
        OPENAI_BASE_URL: openai,
        GOOGLE_GEMINI_BASE_URL: gemini,
      };
  }
}

/** The known client of this name, or null for any other program. */
export function clientOf(program: string): ClientName | null {
  const name = basename(program);
  return isClientName(name) ? name : null;
}

export function isClaude(program: string): boolean {
  return clientOf(program) === "claude";
}

type CustomHeader = readonly [name: string, value: string];

function ownHeaders({ cwd, relayToken, isObserved }: ClientLaunch): readonly CustomHeader[] {
  const project = projectName(cwd);
  return [
    ...(project === "" ? [] : [["X-Aperture-Project", project] as const]),
    ...(relayToken === null ? [] : [["X-Aperture-Token", relayToken] as const]),
    ...(isObserved === true ? [["X-Aperture-Mode", "observe"] as const] : []),
  ];
}

/** The folder's name in characters that a header allows. */
export function projectName(cwd: string): string {
  return basename(cwd)
    .replace(/[^\x21-\x7e]+/g, "-")
    .slice(0, 200);
}

/** The user's own headers win over ours of the same name. */
function withHeaders(existing: string | undefined, added: readonly CustomHeader[], between: string): string {
  const lines = (existing ?? "")
    .split(between === "\n" ? /\r?\n/ : /,\s*/)
    .filter((line) => line.trim() !== "");
  const names = lines.map((line) => (line.split(":", 1)[0] ?? "").trim().toLowerCase());
  const missing = added.filter(([name]) => !names.includes(name.toLowerCase()));
  return [...lines, ...missing.map(([name, value]) => `${name}: ${value}`)].join(between);
}

type ConfigObject = Readonly<Record<string, unknown>>;

/**
 * Ours override the user's, and the rest of the user's stays. Invalid JSON is passed on for the client to
 * report.
 */
function mergeConfig(existing: string | undefined, ours: ConfigObject): string {
  if (existing === undefined || existing.trim() === "") return JSON.stringify(ours);
  try {
    return JSON.stringify(mergeDeep(JSON.parse(existing) as ConfigObject, ours));
  } catch {
    return existing;
  }
}

function mergeDeep(under: unknown, over: unknown): unknown {
  if (!isConfigObject(under) || !isConfigObject(over)) return over;
  const names = new Set([...Object.keys(under), ...Object.keys(over)]);
  return Object.fromEntries(
    [...names].map((name) => [name, name in over ? mergeDeep(under[name], over[name]) : under[name]]),
  );
}

function isConfigObject(value: unknown): value is ConfigObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
