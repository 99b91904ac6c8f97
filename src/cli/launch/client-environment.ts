import { basename } from "node:path";
import type { Environment } from "../../config/index.ts";
import { addressesOf, type ClientName, isClientName, opencodeConfig, wiringOf } from "./wiring.ts";

export type Launch = {
  readonly program: string;
  readonly url: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Where others can reach the proxy, it asks its clients for the token. */
  readonly relayToken: string | null;
  /** Requests to Anthropic end at Anthropic's own address, however they get there. */
  readonly isFirstParty?: boolean;
  /** The client's requests go up as it sends them, whatever the proxy would do. */
  readonly isObserved?: boolean;
};

/** Behind an address it does not know, Claude Code leaves out what only Anthropic has: the 1M window. */
const firstParty = { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" };

/** What a client is started with. Only this process tree sees it: nothing is left behind. */
export function clientEnvironment(launch: Launch): Environment {
  const { url, env } = launch;
  const { anthropic, openai, gemini } = addressesOf(url);
  const client = clientOf(launch.program);
  switch (client) {
    case "claude": {
      const headers = withHeaders(env["ANTHROPIC_CUSTOM_HEADERS"], ownHeaders(launch), "\n");
      const told = launch.isFirstParty === true ? firstParty : {};
      return { ...told, ...env, ...wiringOf(client, url).variables, ANTHROPIC_CUSTOM_HEADERS: headers };
    }
    case "gemini": {
      const headers = withHeaders(env["GEMINI_CLI_CUSTOM_HEADERS"], ownHeaders(launch), ", ");
      return { ...env, ...wiringOf(client, url).variables, GEMINI_CLI_CUSTOM_HEADERS: headers };
    }
    case "opencode":
      return { ...env, OPENCODE_CONFIG_CONTENT: merged(env["OPENCODE_CONFIG_CONTENT"], opencodeConfig(url)) };
    default:
      return {
        ...env,
        ANTHROPIC_BASE_URL: anthropic,
        OPENAI_BASE_URL: openai,
        GOOGLE_GEMINI_BASE_URL: gemini,
      };
  }
}

/** The client we know under this name; null: some other program. */
export function clientOf(program: string): ClientName | null {
  const name = basename(program);
  return isClientName(name) ? name : null;
}

export function isClaude(program: string): boolean {
  return clientOf(program) === "claude";
}

type Header = readonly [name: string, value: string];

function ownHeaders({ cwd, relayToken, isObserved }: Launch): readonly Header[] {
  const project = projectName(cwd);
  return [
    ...(project === "" ? [] : [["X-Aperture-Project", project] as const]),
    ...(relayToken === null ? [] : [["X-Aperture-Token", relayToken] as const]),
    ...(isObserved === true ? [["X-Aperture-Mode", "observe"] as const] : []),
  ];
}

/** A folder's name as it may stand in a header. */
export function projectName(cwd: string): string {
  return basename(cwd)
    .replace(/[^\x21-\x7e]+/g, "-")
    .slice(0, 200);
}

/** What the user set stays, also where it says the same thing otherwise. */
function withHeaders(existing: string | undefined, added: readonly Header[], between: string): string {
  const lines = (existing ?? "")
    .split(between === "\n" ? /\r?\n/ : /,\s*/)
    .filter((line) => line.trim() !== "");
  const names = lines.map((line) => (line.split(":", 1)[0] ?? "").trim().toLowerCase());
  const missing = added.filter(([name]) => !names.includes(name.toLowerCase()));
  return [...lines, ...missing.map(([name, value]) => `${name}: ${value}`)].join(between);
}

type Fields = Readonly<Record<string, unknown>>;

/** Ours on top, and nothing of the user's lost; what cannot be read is the client's to complain about. */
function merged(existing: string | undefined, ours: Fields): string {
  if (existing === undefined || existing.trim() === "") return JSON.stringify(ours);
  try {
    return JSON.stringify(joined(JSON.parse(existing) as Fields, ours));
  } catch {
    return existing;
  }
}

function joined(under: unknown, over: unknown): unknown {
  if (!isFields(under) || !isFields(over)) return over;
  const names = new Set([...Object.keys(under), ...Object.keys(over)]);
  return Object.fromEntries(
    [...names].map((name) => [name, name in over ? joined(under[name], over[name]) : under[name]]),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
