import type { IncomingMessage, ServerResponse } from "node:http";
import type { Desk, Recorder } from "../session/index.ts";
import type { RelayMetrics } from "./metrics.ts";

/** Where requests may go. Nothing in a request can add to this or change it. */
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
  /** How long the desk may take to say what is sent: beyond it, the body goes as it came. */
  readonly takeMs: number;
  /** How long an answer may be held back from the client for the desk to see it whole. */
  readonly holdMs: number;
  /** How often a client that waits for us is told that somebody is there. */
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
  takeMs: 3_000,
  holdMs: 5_000,
  pingMs: 5_000,
  drainMs: 30_000,
};

export type ProxyOptions = {
  readonly host: string;
  /** Zero lets the system choose. */
  readonly port: number;
  /** Host values to answer under besides the loopback names, exactly as a client sends them. */
  readonly allowedHosts: readonly string[];
  readonly upstreams: Upstreams;
  /** Set when listening beyond loopback: then model routes ask for it in `x-aperture-token`. */
  readonly relayToken: string | null;
  readonly recorder: Recorder;
  /** Decides what is sent in place of a body. Null: every body is relayed as it comes. */
  readonly desk: Desk | null;
  /** The secret of the keyed hash that stands for a credential. */
  readonly credentialKey: Uint8Array;
  /** Everything that is not a model route. Called after the checks that hold for every route. */
  readonly own: (request: IncomingMessage, response: ServerResponse) => void;
  readonly ownPaths: (path: string) => boolean;
  readonly limits?: Partial<RelayLimits>;
};

export type RunningProxy = {
  readonly url: string;
  readonly port: number;
  readonly metrics: () => RelayMetrics;
  /** Stops accepting, lets what is in flight end, then closes. */
  readonly close: () => Promise<void>;
};
