import { sha256Hex } from "../../base/index.ts";
import type { Protocol } from "../exchange.ts";

/** What is known of a request that tells its session. */
export type KeyFacts = {
  readonly credential: string;
  readonly protocol: Protocol;
  /** What the client calls its session. */
  readonly sessionKey: string | null;
  /** What the ledger calls the talk. */
  readonly talkName: string | null;
  /** The key of the first thing said; undefined where nothing could be read. */
  readonly first: string | undefined;
};

/**
 * A session is known by what its client calls it, else by how its talk begins, kept apart by credential. What
 * cannot be read gathers in one session per credential and protocol. Where the ledger has a name for the talk
 * it stands behind the beginning, so that the talk is found by both, also after a restart.
 */
export function keyOf({ credential, protocol, sessionKey, talkName, first }: KeyFacts): string {
  if (sessionKey !== null) return nameKey(sessionKey);
  if (first === undefined && talkName === null) return `rest:${credential}:${protocol}`;
  const start = startKey(credential, first ?? "");
  return talkName === null ? start : `${start}:${talkName}`;
}

export function nameKey(name: string): string {
  return `name:${name}`;
}

/** What its client calls a session; null where it does not. */
export function sessionName(key: string): string | null {
  return key.startsWith(nameKey("")) ? key.slice(nameKey("").length) : null;
}

export function startKey(credential: string, first: string): string {
  return `talk:${credential}:${sha256Hex(first).slice(0, 32)}`;
}

/** Everything that was begun under one credential and not named by its client. */
export function credentialKey(credential: string): string {
  return `talk:${credential}`;
}

export type KeyParts = {
  /** The key without the name the ledger gave. */
  readonly start: string;
  readonly talkName: string | null;
  /** The key all talks of its credential share; null where the session is no such talk. */
  readonly credential: string | null;
};

export function keyParts(key: string): KeyParts {
  const [, start, credential, talkName] = /^((talk:[^:]*):[0-9a-f]{32})(?::(.+))?$/s.exec(key) ?? [];
  return { start: start ?? key, talkName: talkName ?? null, credential: credential ?? null };
}
