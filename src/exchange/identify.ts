import type { WireRequest } from "../protocols/index.ts";

/** The session of a request by its headers and body, before its history is compared. */
export type RequestIdentity = {
  readonly client: string;
  /** The client's name for its session. Null if it gives none and only the history can tell. */
  readonly sessionKey: string | null;
  /** The name of a sub-agent. Null for the main stream. */
  readonly agent: string | null;
  readonly project: string | null;
};

/** Names in lower case. */
type RequestHeaders = Readonly<Record<string, string>>;

/** Headers in which clients name their session, the most reliable first. */
const sessionHeaders = [
  "x-aperture-session",
  "x-claude-code-session-id",
  "x-parent-session-id",
  "x-session-id",
  "x-session-affinity",
  "session-id",
  "session_id",
] as const;

/** The identity of a request by its headers. */
export function identify({ headers }: { readonly headers: RequestHeaders }): RequestIdentity {
  const header = sessionHeaders.find((name) => isName(headers[name]));
  const project = headers["x-aperture-project"];
  return {
    client: clientOf(headers),
    sessionKey: header === undefined ? null : (headers[header] ?? null),
    agent: agentOf(headers),
    project: isName(project) ? project : null,
  };
}

/** Adds the session that the body names, if the headers name none. */
export function withSessionHint(
  identity: RequestIdentity,
  { sessionHint }: Pick<WireRequest, "sessionHint">,
): RequestIdentity {
  return identity.sessionKey === null && isName(sessionHint)
    ? { ...identity, sessionKey: sessionHint }
    : identity;
}

export type StreamIdentity = Pick<RequestIdentity, "client" | "sessionKey" | "agent"> & {
  readonly owner: string;
  readonly upstream: string;
};

/** The planner's key of a stream: its owner, its upstream and the client's names. */
export function streamKeyOf({ owner, upstream, client, sessionKey, agent }: StreamIdentity): string {
  return JSON.stringify([owner, upstream, client, sessionKey, agent]);
}

/** opencode gives a sub-agent a session id of its own and sends the parent's id as well. */
function agentOf(headers: RequestHeaders): string | null {
  const agent =
    headers["x-claude-code-agent-id"] ?? (headers["x-parent-session-id"] && headers["x-session-id"]);
  return isName(agent) ? `agent ${agent}` : null;
}

const clientPatterns: readonly (readonly [pattern: RegExp, client: string])[] = [
  // An imported transcript is another client: it does not behave like its client does on the wire.
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

function clientOf(headers: RequestHeaders): string {
  if (isName(headers["x-claude-code-session-id"])) return "claude-code";
  const userAgent = headers["user-agent"] ?? "";
  return clientPatterns.find(([pattern]) => pattern.test(userAgent))?.[1] ?? "unknown";
}

/** Whether a client uses tools and sends small side requests under the session id of the conversation. */
export function isAgentClient(client: string): boolean {
  return client === "claude-code" || client === "opencode";
}

/** A name must be printable and short: it ends up in a log and on a screen. */
function isName(value: string | null | undefined): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value);
}
