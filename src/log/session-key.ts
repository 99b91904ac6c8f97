import { sha256Hex } from "../base/index.ts";
import type { ProtocolName } from "../engine/frames/index.ts";

/** Facts about a request that determine its session. */
export type SessionKeyInput = {
  readonly credential: string;
  readonly protocol: ProtocolName;
  /** The name the client gives its session. */
  readonly sessionKey: string | null;
  /** The name the planner gave a conversation whose client does not name it. */
  readonly generatedName: string | null;
  /** Key of the first message unit; undefined if the request could not be read. */
  readonly first: string | undefined;
};

/**
 * A session is identified by the name its client gives it, else by credential and the start of its
 * conversation. Requests that cannot be read share one session per credential and protocol. A generated name
 * is appended to the start, so that the conversation is found by both, also after a restart.
 */
export function sessionKeyOf({
  credential,
  protocol,
  sessionKey,
  generatedName,
  first,
}: SessionKeyInput): string {
  if (sessionKey !== null) return nameKey(sessionKey);
  if (first === undefined && generatedName === null) return `rest:${credential}:${protocol}`;
  const start = startKey(credential, first ?? "");
  return generatedName === null ? start : `${start}:${generatedName}`;
}

export function nameKey(name: string): string {
  return `name:${name}`;
}

/** The name in a key made by `nameKey`; null for other keys. */
export function clientSessionName(key: string): string | null {
  return key.startsWith(nameKey("")) ? key.slice(nameKey("").length) : null;
}

export function startKey(credential: string, first: string): string {
  return `talk:${credential}:${sha256Hex(first).slice(0, 32)}`;
}

/** Key of all conversations of one credential that their client does not name. */
export function credentialKey(credential: string): string {
  return `talk:${credential}`;
}

export type SessionKeyParts = {
  /** The key without the generated name. */
  readonly start: string;
  readonly generatedName: string | null;
  /** The credential key; null for keys that are made another way. */
  readonly credential: string | null;
};

export function parseSessionKey(key: string): SessionKeyParts {
  const [, start, credential, generatedName] = /^((talk:[^:]*):[0-9a-f]{32})(?::(.+))?$/s.exec(key) ?? [];
  return { start: start ?? key, generatedName: generatedName ?? null, credential: credential ?? null };
}
