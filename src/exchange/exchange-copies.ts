import type { ExchangeEnd, ProtocolName } from "../engine/frames/index.ts";
import type { WireAnswer, WireRequest } from "../protocols/index.ts";
import type { Pieces } from "./decode-body.ts";
import type { RequestIdentity } from "./identify.ts";
import type { BlockNumbers } from "./numbered-block.ts";
import type { Purpose } from "./purpose.ts";
import type { SentRequest } from "./sent-request.ts";

export type { ProtocolName } from "../engine/frames/index.ts";

/** The caller of a request. */
export type Caller = {
  readonly owner: string;
  /** A keyed hash of the credential, never the credential. */
  readonly credential: string;
  /** The credentials themselves. They stay in memory, so that records can be searched for them. */
  readonly secrets: readonly string[];
};

/** A copy of a raw request, passed to the recorder when its response starts. */
export type RequestCopy<Bytes = Uint8Array> = {
  /** The `x-aperture-request-id` of the response. */
  readonly id: string;
  /** Requests of any other format are relayed and forgotten. */
  readonly protocol: ProtocolName;
  /** The name of the upstream it went to. */
  readonly upstream: string;
  readonly method: string;
  /** Path and query as they went upstream, credentials masked. */
  readonly target: string;
  /** Only headers of a known harmless list, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly startedMs: number;
  /** Null if it is too large to be kept. */
  readonly body: Bytes | null;
  readonly length: number;
  /** The body as the planner read it. Absent if it did not: then the recorder reads it. */
  readonly read?: WireRequest | null;
  /** Its identity and its purpose, if the planner has read it: they are decided once. */
  readonly identity?: RequestIdentity;
  readonly purpose?: Purpose;
  /** The request as we sent it. Null if the client's body was sent unchanged. */
  readonly sent: SentRequest | null;
};

/** The outcome of an exchange as the relay sees it. Only a restart finds interrupted ones. */
export type RelayOutcome = Exclude<ExchangeEnd["outcome"], "interrupted">;

/** A copy of a response, byte for byte as it came from upstream. */
export type ResponseCopy<Bytes = Uint8Array> = {
  readonly id: string;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | null;
  readonly length: number;
  /** The answer, if it was read as it passed. Null: the recorder reads the body. */
  readonly answer: WireAnswer | null;
  readonly outcome: RelayOutcome;
  readonly blockNumbers: BlockNumbers;
  /** True if another round is sent for the same request. */
  readonly isContinued?: true;
  /** Why the response was ours and not the upstream's. Null if it was the upstream's. */
  readonly problem: string | null;
  /** Milliseconds from the request's first byte to the response's first byte. */
  readonly firstByteMs: number | null;
  /** Milliseconds from the request's first byte to the response's end. */
  readonly totalMs: number;
  /** Milliseconds the planner added after the request's last byte. Null if it was not consulted. */
  readonly addedMs?: number | null;
};

/** Returns the copy with its body in one piece. */
export function joinedCopy<C extends { readonly body: Pieces | null }>(
  copy: C,
): Omit<C, "body"> & { readonly body: Uint8Array | null } {
  return { ...copy, body: copy.body === null ? null : joinPieces(copy.body) };
}

/** Does not copy a single piece: allocating memory for a large body takes longer than reading it. */
function joinPieces(pieces: Pieces): Buffer {
  const [only] = pieces;
  return only === undefined || pieces.length > 1 ? Buffer.concat(pieces) : asBuffer(only);
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
