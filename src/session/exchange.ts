import type { ExchangeOutcome } from "../engine/index.ts";

/** The model APIs whose requests are worth recording. Anything else is relayed and forgotten. */
export const protocols = ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"] as const;
export type Protocol = (typeof protocols)[number];

/**
 * Who asked, as far as it may be known: a keyed hash of the credential, never the credential. `secrets` are
 * the values themselves. They live in memory only, so that what is written down can be searched for them.
 */
export type Caller = {
  readonly owner: string;
  readonly credential: string;
  readonly secrets: readonly string[];
};

/** Bytes in the pieces they came in. */
export type Pieces = readonly Uint8Array[];

/** One raw request as the client sent it, handed over when its answer begins. */
export type RequestCopy<Bytes = Uint8Array> = {
  /** The `x-aperture-request-id` of the response. */
  readonly id: string;
  readonly protocol: Protocol;
  /** The name of the upstream it went to. */
  readonly upstream: string;
  readonly method: string;
  /** Path and query as they went upstream, credentials masked. */
  readonly target: string;
  /** Only headers of a known harmless list, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly startedMs: number;
  /** Null: larger than what is kept. */
  readonly body: Bytes | null;
  readonly length: number;
};

/** How an exchange ended, as the relay saw it. Only a restart finds interrupted ones. */
export type RelayOutcome = Exclude<ExchangeOutcome, "interrupted">;

/** What came back, byte for byte as it was passed on. */
export type ResponseCopy<Bytes = Uint8Array> = {
  readonly id: string;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | null;
  readonly length: number;
  readonly outcome: RelayOutcome;
  /** Why the answer was ours and not the upstream's, or null. */
  readonly problem: string | null;
  /** Milliseconds from the request's first byte to the answer's first byte, and to its end. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
};

/**
 * Where the relay drops its copies. Neither call ever waits, throws or changes what the client gets; both
 * take over the bytes they are given, which nobody else may use from then on.
 */
export type Recorder = {
  readonly requested: (copy: RequestCopy<Pieces>) => void;
  readonly answered: (copy: ResponseCopy<Pieces>) => void;
};

/** The copy with its body in one piece. */
export function joinedCopy<C extends { readonly body: Pieces | null }>(
  copy: C,
): Omit<C, "body"> & { readonly body: Uint8Array | null } {
  return { ...copy, body: copy.body === null ? null : Buffer.concat(copy.body) };
}
