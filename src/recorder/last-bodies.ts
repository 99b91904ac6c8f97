import { createHash, type Hash } from "node:crypto";
import {
  assert,
  type ContentHash,
  contentHash,
  hashContent,
  limits,
  type SessionId,
  type StreamId,
} from "../base/index.ts";
import type { SentRequest } from "../exchange/index.ts";
import type { FrameAttachments } from "../log/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import {
  type Body,
  type ContentSlice,
  commonPrefixLength,
  diffRecipe,
  type ExchangeSide,
  type HashedContent,
  type RecipePiece,
} from "../store/index.ts";
import type { BodyBufferPool } from "./body-buffer-pool.ts";
import type { DeltaDraft } from "./delta-draft.ts";
import type { SearchedBody } from "./secret-masking.ts";
import { placedUnits, sharedUnits } from "./unit-alignment.ts";

type LastBody = SearchedBody & {
  readonly exchange: number;
  /** The last unit of a body that went upstream. Null for any other body. */
  readonly leaf: string | null;
  /** The parsed body, so that only new parts of the next one are parsed. */
  readonly request: WireRequest | null;
  readonly start: PrefixHash;
};

/** A request body that is to be stored. */
export type RequestBody = {
  readonly exchange: number;
  readonly stream: StreamId | null;
  readonly bytes: Uint8Array;
  /** Null if the body could not be read, or if its units are not stored as contents. */
  readonly request: WireRequest | null;
  readonly slices: readonly ContentSlice[];
  /** Forms of the secrets that were masked in it. */
  readonly forms: readonly string[];
};

const noAttachments: Required<FrameAttachments> = { contents: [], bodies: [] };

/**
 * The last bodies of each stream, and of requests outside streams. The next body is stored as a difference to
 * them; they only save space and time.
 */
export class LastBodies {
  readonly #session: SessionId;
  readonly #buffers: BodyBufferPool;
  readonly #lastBodies = new Map<string, LastBody>();

  constructor(session: SessionId, buffers: BodyBufferPool) {
    this.#session = session;
    this.#buffers = buffers;
  }

  /** Number of leading units that a request shares with the body it will be stored as a difference to. */
  sharedUnits(stream: StreamId, request: WireRequest): number {
    return sharedUnits(request, this.#lastBodies.get(bodyName("client-request", stream))?.request ?? null);
  }

  /** The last body of a side; the next one probably starts with it. */
  lastSearched(side: ExchangeSide, stream: StreamId): SearchedBody | null {
    return this.#lastBodies.get(bodyName(side, stream)) ?? null;
  }

  byteCount(): number {
    return [...this.#lastBodies.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  clear(): void {
    for (const { bytes } of this.#lastBodies.values()) this.#buffers.release(bytes);
    this.#lastBodies.clear();
  }

  writeClientBody(body: RequestBody): Required<FrameAttachments> {
    return this.#write("client-request", { ...body, leaf: null, shared: null }, null);
  }

  /**
   * Stores the body that went upstream, as a difference to the previous one, or else to the client's. Its
   * contents are added to the draft; without a draft it has none.
   */
  writeUpstreamBody(
    sent: SentRequest | null,
    client: RequestBody | null,
    input: UpstreamBodyInput,
  ): Required<FrameAttachments> {
    const [bytes] = sent?.body ?? [];
    if (bytes === undefined || bytes.length === 0 || bytes.length > limits.contentBytesMax)
      return noAttachments;
    const { exchange, stream, forms } = input;
    const leaf = sent?.leaf ?? null;
    const before = this.#lastBodies.get(bodyName("upstream-request", stream)) ?? null;
    const shared = before === null ? null : commonPrefixLength(before.bytes, bytes);
    const named = nameUpstreamUnits({ ...input, bytes, sent, client, before, shared });
    const clientBase =
      client === null ? null : { exchange, bytes: client.bytes, side: "client-request" as const };
    return this.#write(
      "upstream-request",
      { exchange, stream, bytes, forms, leaf, shared, ...named },
      clientBase,
    );
  }

  #write(side: ExchangeSide, next: WritableBody, fallback: BaseBody | null): Required<FrameAttachments> {
    const { exchange, stream, bytes, request, slices, forms, leaf } = next;
    const name = bodyName(side, stream);
    const before = this.#lastBodies.get(name);
    const previous =
      before === undefined ? fallback : { exchange: before.exchange, bytes: before.bytes, side };
    const shared = next.shared ?? (previous === null ? 0 : commonPrefixLength(previous.bytes, bytes));
    const { hash, start } = extendHash(bytes, shared, before?.start ?? null);
    // A body without units is stored as one content, so that it can be purged too.
    const isWhole = slices.length === 0 && previous === null;
    const contentSlices: readonly ContentSlice[] = isWhole
      ? [{ start: 0, length: bytes.length, content: hash }]
      : slices;
    const recipe = diffRecipe({ previous, next: bytes, slices: contentSlices, sharedStart: shared }).map(
      copyPiece,
    );
    this.#lastBodies.set(name, { exchange, leaf, bytes, request, forms, start });
    if (before !== undefined) this.#buffers.release(before.bytes);
    const body: Body = { session: this.#session, exchange, side, hash, length: bytes.length, recipe };
    return { contents: isWhole ? [{ hash, bytes: new Uint8Array(bytes) }] : [], bodies: [body] };
  }
}

/** A batch may wait long to be written, and the buffer of a body is reused. */
function copyPiece(piece: RecipePiece): RecipePiece {
  return piece.from === "literal" ? { ...piece, bytes: new Uint8Array(piece.bytes) } : piece;
}

export type UpstreamBodyInput = Pick<RequestBody, "exchange" | "stream" | "forms"> & {
  /** Null if the request is no turn. */
  readonly draft: DeltaDraft | null;
};

type WritableBody = RequestBody &
  Pick<LastBody, "leaf"> & {
    /** The number of bytes that it shares with the last body of its side; null if they were not compared. */
    readonly shared: number | null;
  };

type SentBodyInput = UpstreamBodyInput &
  Pick<WritableBody, "bytes" | "shared"> & {
    readonly sent: SentRequest | null;
    readonly client: RequestBody | null;
    /** The last body that went upstream in the stream. */
    readonly before: LastBody | null;
  };

/**
 * Finds the units of a body that went upstream. If it continues the last one, the new units are looked for
 * behind the shared bytes: we wrote this body ourselves and do not read it again. Any other body is read.
 */
function nameUpstreamUnits(input: SentBodyInput): Pick<RequestBody, "request" | "slices"> {
  const { draft, bytes, sent, client, before, shared } = input;
  if (draft === null || client === null || client.request === null) return { request: null, slices: [] };
  const fresh = sent?.fresh ?? [];
  const isContinued = before !== null && before.leaf !== null && fresh[0]?.parent === before.leaf;
  const slices = isContinued ? draft.findSlices(fresh, bytes, shared ?? 0) : null;
  if (slices !== null) return { request: null, slices };
  const last = before?.request ?? null;
  const request = protocolOf(client.request).read.request(bytes, last);
  const placed = request === null ? [] : placedUnits(request, sharedUnits(request, last));
  return { request, slices: request === null ? [] : draft.nameSlices(placed, request) };
}

/** The body that another one is stored as a difference to. */
type BaseBody = { readonly exchange: number; readonly bytes: Uint8Array; readonly side: ExchangeSide };

function bodyName(side: ExchangeSide, stream: StreamId | null): string {
  return `${side} ${stream ?? "beside"}`;
}

type ResponseRecord = { readonly contents: readonly HashedContent[]; readonly body: Body };

/** A response is stored as one content, byte for byte. */
export function responseRecord(
  { session, exchange }: Pick<Body, "session" | "exchange">,
  bytes: Uint8Array,
): ResponseRecord {
  const hash = hashContent(bytes);
  const recipe = [{ from: "content", content: hash, start: 0, length: bytes.length }] as const;
  const side: ExchangeSide = "upstream-response";
  return {
    contents: [{ hash, bytes }],
    body: { session, exchange, side, hash, length: bytes.length, recipe: bytes.length === 0 ? [] : recipe },
  };
}

/** The hash state after the first `length` bytes of a body. */
export type PrefixHash = { readonly length: number; readonly hash: Hash };
type BodyHash = { readonly hash: ContentHash; readonly start: PrefixHash };

/**
 * Hashes a body that shares its first `shared` bytes with the previous one. Bytes that were hashed there are
 * not hashed again; the hash state after the shared bytes is returned for the next body.
 */
export function extendHash(bytes: Uint8Array, shared: number, before: PrefixHash | null): BodyHash {
  assert(shared <= bytes.length, "a body shares no more than it has");
  const known = before !== null && before.length <= shared ? before : null;
  const hash = known === null ? createHash("sha256") : known.hash.copy();
  hash.update(bytes.subarray(known?.length ?? 0, shared));
  const start = { length: shared, hash: hash.copy() };
  return { hash: contentHash(hash.update(bytes.subarray(shared)).digest("hex")), start };
}
