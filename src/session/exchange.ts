import type {
  BlockKind,
  ExchangeOutcome,
  Origin,
  PredictedBill,
  Rendering,
  RewriteReason,
  Shown,
  Ttl,
} from "../engine/index.ts";

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
  /** What went upstream in place of the body; null: the body, as it came. */
  readonly sent: SentReport | null;
};

/**
 * A body that stays where it is, because whoever had it looked into goes on with it: what is handed over is a
 * copy, and of a body that begins like the one before in its line, only the rest.
 */
export type Likeness = {
  /** What follows one another; null: it stands alone. */
  readonly line: string | null;
  /** The request before, and how many bytes from the start are the same in both. */
  readonly before: string | null;
  readonly shared: number;
};

/** It stays where it is, and is like nothing. */
export const alone: Likeness = { line: null, before: null, shared: 0 };

/** What the ledger sent, so that the log can say so. */
export type SentReport = {
  readonly rendering: Rendering;
  /** What the desk calls the stream. */
  readonly line: string;
  /** What the session is called where its client does not call it anything. */
  readonly talkName: string | null;
  /** The seq of what the desk knew of the stream when it rendered this. */
  readonly briefed: number;
  /** The last unit of the request: an id made from all units before it, see `placeId`. */
  readonly leaf: string;
  /** Units sent for the first time, each after its parent. */
  readonly fresh: readonly SentUnit[];
  /** Units of the client that are known under another form of theirs. */
  readonly copies: readonly SentCopy[];
  /** Whether it moves its stream on; a compaction, a count or a side question does not. */
  readonly isTurn: boolean;
  /** Set where it follows an answer that called our tools: the client has said nothing new. */
  readonly isRound?: true;
  /** The body that went upstream, in shared memory. */
  readonly body: Pieces;
  readonly length: number;
  /** Set where this request begins an epoch. */
  readonly epoch: SentEpoch | null;
};
export type SentEpoch = {
  readonly cut: string | null;
  readonly reason: RewriteReason;
  readonly means: "own" | "provider";
  readonly predicted: PredictedBill | null;
};
export type SentUnit = {
  readonly id: string;
  readonly parent: string | null;
  readonly origin: Origin;
  readonly key: string;
  /** Which of the client's units it is, counted over tools, system and messages; null: none of them. */
  readonly unit: number | null;
  /** The block it is, as the desk has called it; null where it has not. */
  readonly numbered: Numbered | null;
  /** How much of that block it shows. */
  readonly as: Shown;
  /** Set where the provider is asked to leave it out. */
  readonly cleared?: true;
  /** Normalised as in the wire unit, without cache marks. */
  readonly bytes: Uint8Array;
};

/** Which of the client's units it is, counted over tools, system and messages, and the block it is. */
export type SentCopy = { readonly unit: number; readonly numbered: Numbered };

/** The numbers by which a block and its message are known, and the turn they were first shown in. */
export type KnownBlock = { readonly block: number; readonly message: number; readonly turn: number };

/** A block as the desk has called it when it was first rendered. The log keeps to that. */
export type Numbered = KnownBlock & {
  readonly kind: BlockKind;
  /** An estimate, made once. */
  readonly tokens: number;
  readonly ttl: Ttl | null;
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
  /** What the desk calls the blocks of the answer, in order; null where it has not read it. */
  readonly numbered: readonly (Numbered | null)[] | null;
  /** Set where something more is sent for the same request. */
  readonly goesOn?: true;
  /** Why the answer was ours and not the upstream's, or null. */
  readonly problem: string | null;
  /** Milliseconds from the request's first byte to the answer's first byte, and to its end. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
  /** From the last byte of the request to what was sent upstream for it; null where it passed as it came. */
  readonly addedMs?: number | null;
};

/**
 * Where the relay drops its copies. No call ever waits, throws or changes what the client gets. Bytes are
 * taken over and nobody else may use them from then on, except those in shared memory, which nobody changes,
 * and those of a request with a likeness, which are copied before the call returns.
 */
export type Recorder = {
  readonly requested: (copy: RequestCopy<Pieces>, likeness: Likeness | null) => void;
  /** For a request something else was sent: what was sent before was refused, or its answer goes on. */
  readonly resent: (id: string, sent: SentReport | null) => void;
  readonly answered: (copy: ResponseCopy<Pieces>) => void;
  /** Whether there is room for the bodies of what it is told; where nothing is said, there is. */
  readonly keepsBodies?: () => boolean;
};

/** The copy with its body in one piece. */
export function joinedCopy<C extends { readonly body: Pieces | null }>(
  copy: C,
): Omit<C, "body"> & { readonly body: Uint8Array | null } {
  return { ...copy, body: copy.body === null ? null : joined(copy.body) };
}

/** What came in one piece stays where it is: new memory for a large body costs more than reading it. */
function joined(pieces: Pieces): Buffer {
  const [only] = pieces;
  return only === undefined || pieces.length > 1 ? Buffer.concat(pieces) : asBuffer(only);
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
