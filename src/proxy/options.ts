import type { IncomingMessage, ServerResponse } from "node:http";
import type { Planner, RecorderPort } from "../exchange/index.ts";
import type { RelayMetrics } from "./metrics.ts";

/** The addresses that requests may go to. Nothing in a request can add one or change one. */
export type Upstreams = {
  readonly anthropic: URL;
  readonly openai: URL;
  readonly gemini: URL;
  readonly bedrock: URL;
  /** Reached by `/u/<name>`. */
  readonly named: ReadonlyMap<string, URL>;
};

export type RelayLimits = {
  /** How long a connection to the upstream may take, its TLS handshake included. */
  readonly connectMs: number;
  /** How long an exchange may go without a byte in either direction. */
  readonly idleMs: number;
  /** How long a client may take to send its header block. */
  readonly headersMs: number;
  readonly headerBytes: number;
  readonly bodyBytesMax: number;
  /** A body larger than this is relayed, but no copy of it is kept. */
  readonly keptBytesMax: number;
  /** How long the planner may take. After that the client's body is sent. */
  readonly planMs: number;
  /** How long a refusal may be held back from the client for the planner. */
  readonly holdMs: number;
  /** How often a client gets a ping while it waits for a round. */
  readonly pingMs: number;
  readonly drainMs: number;
};

export const relayLimits: RelayLimits = {
  connectMs: 10_000,
  idleMs: 900_000,
  headersMs: 60_000,
  headerBytes: 64 * 1024,
  bodyBytesMax: 256 * 1024 * 1024,
  keptBytesMax: 32 * 1024 * 1024,
  planMs: 3_000,
  holdMs: 5_000,
  pingMs: 5_000,
  drainMs: 30_000,
};

export type ProxyOptions = {
  readonly host: string;
  /** Zero lets the system choose. */
  readonly port: number;
  /** Host headers to accept besides the loopback names, exactly as a client sends them. */
  readonly allowedHosts: readonly string[];
  readonly upstreams: Upstreams;
  /** Set when listening beyond loopback: model routes then require it in `x-aperture-token`. */
  readonly relayToken: string | null;
  readonly recorder: RecorderPort;
  /** Null if every body is relayed as it comes. */
  readonly planner: Planner | null;
  /** The key of the hash that replaces a credential. */
  readonly credentialKey: Uint8Array;
  /** Answers requests for our own paths. Called after the checks for every route. */
  readonly handleOwn: (request: IncomingMessage, response: ServerResponse) => void;
  readonly isOwnPath: (path: string) => boolean;
  readonly limits?: Partial<RelayLimits>;
};

export type RunningProxy = {
  readonly url: string;
  readonly port: number;
  readonly metrics: () => RelayMetrics;
  /** Stops accepting connections, lets active requests finish, then closes. */
  readonly close: () => Promise<void>;
};
