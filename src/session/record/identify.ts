import type { WireRequest } from "../../protocols/index.ts";
import type { RequestCopy } from "../exchange.ts";

/** What a request says about where it belongs, before its history is looked at. */
export type Belonging = {
  readonly client: string;
  /** What the client calls its session; null where it says nothing and only its history can tell. */
  readonly sessionKey: string | null;
  /** A sub-agent's name for itself; null is the main line of talk. */
  readonly agent: string | null;
  readonly project: string | null;
};

type Headers = RequestCopy["headers"];

/** Headers in which a client names its session, the surest first. */
const sessionHeaders = [
  "x-aperture-session",
  "x-claude-code-session-id",
  "x-parent-session-id",
  "x-session-id",
  "x-session-affinity",
  "session-id",
  "session_id",
] as const;

export function belongingOf(
  { headers }: Pick<RequestCopy, "headers">,
  request: WireRequest | null,
): Belonging {
  const client = clientOf(headers);
  const header = sessionHeaders.find((name) => isName(headers[name]));
  const named = header === undefined ? request?.sessionHint : headers[header];
  const project = headers["x-aperture-project"];
  return {
    client,
    sessionKey: isName(named) ? named : null,
    agent: agentOf(headers),
    project: isName(project) ? project : null,
  };
}

export type LineNamed = Pick<Belonging, "client" | "sessionKey" | "agent"> & {
  readonly owner: string;
  readonly upstream: string;
};

/** What a stream is called: whose it is, where it goes, and what its client calls it. */
export function lineName({ owner, upstream, client, sessionKey, agent }: LineNamed): string {
  return JSON.stringify([owner, upstream, client, sessionKey, agent]);
}

/** opencode gives a sub-agent a session id of its own and names the parent's beside it. */
function agentOf(headers: Headers): string | null {
  const agent =
    headers["x-claude-code-agent-id"] ?? (headers["x-parent-session-id"] && headers["x-session-id"]);
  return isName(agent) ? `agent ${agent}` : null;
}

const agents: readonly (readonly [pattern: RegExp, client: string])[] = [
  // What was imported is told apart from what was seen on the wire, and follows none of its habits.
  [/^transcript-claude-code$/, "claude-code transcript"],
  [/^transcript-codex$/, "codex transcript"],
  [/^transcript-gemini-cli$/, "gemini-cli transcript"],
  [/^claude-cli\b|^claude-code\b/i, "claude-code"],
  [/\bopencode\b/i, "opencode"],
  [/\bcodex(?![a-z])/i, "codex"],
  [/gemini-?cli/i, "gemini-cli"],
  [/^pi\b/i, "pi"],
  [/\bai-sdk\b|^ai\//i, "ai-sdk"],
  [/^aperture-demo$/, "aperture demo"],
  [/^anthropic\b/i, "anthropic-sdk"],
  [/^openai\b/i, "openai-sdk"],
];

function clientOf(headers: Headers): string {
  if (isName(headers["x-claude-code-session-id"])) return "claude-code";
  const agent = headers["user-agent"] ?? "";
  return agents.find(([pattern]) => pattern.test(agent))?.[1] ?? "unknown";
}

/** Programs that talk through tools and use the same session id for small requests beside the talk. */
export function isAgentClient(client: string): boolean {
  return client === "claude-code" || client === "opencode";
}

/** A name must be printable and short: it ends up in a log and on a screen. */
function isName(value: string | null | undefined): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value);
}
