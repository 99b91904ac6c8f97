import { limits, type SessionId, type StreamId } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import {
  type Body,
  commonPrefixLength,
  diffRecipe,
  type Piece,
  type Side,
  type Slice,
} from "../../store/index.ts";
import type { SentReport } from "../exchange.ts";
import type { Attached } from "../outbox.ts";
import { placedUnits, sharedUnits } from "./align.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { Draft } from "./draft.ts";
import { type HashedStart, hashOnwards } from "./hashed-start.ts";
import type { Searched } from "./masking.ts";

type Kept = Searched & {
  readonly exchange: number;
  /** The body, read: so that of the next one only what is new has to be. */
  readonly request: WireRequest | null;
  readonly start: HashedStart;
};

/** A body of an exchange, to be written down. */
export type WrittenBody = {
  readonly exchange: number;
  readonly stream: StreamId | null;
  readonly bytes: Uint8Array;
  /** What could be read of it. */
  readonly request: WireRequest | null;
  readonly slices: readonly Slice[];
  /** The secrets that were searched for in it. */
  readonly forms: readonly string[];
};

const none: Required<Attached> = { contents: [], bodies: [] };

/**
 * The last bodies of each stream, and of requests beside them: what the next one is written in terms of. They
 * only save room and time.
 */
export class KeptBodies {
  readonly #session: SessionId;
  readonly #memory: BodyMemory;
  readonly #kept = new Map<string, Kept>();

  constructor(session: SessionId, memory: BodyMemory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** How many leading units of a request the body has too that it will be written in terms of. */
  sharedUnits(stream: StreamId, request: WireRequest): number {
    return sharedUnits(request, this.#kept.get(nameOf("client-request", stream))?.request ?? null);
  }

  /** What the next body of this side will probably begin with. */
  searched(side: Side, stream: StreamId): Searched | null {
    return this.#kept.get(nameOf(side, stream)) ?? null;
  }

  bytes(): number {
    return [...this.#kept.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  clear(): void {
    for (const { bytes } of this.#kept.values()) this.#memory.giveBack(bytes);
    this.#kept.clear();
  }

  /** What the client sent. */
  request(written: WrittenBody): Required<Attached> {
    return this.#write("client-request", written, null);
  }

  /**
   * What went upstream in its place. It resembles the one before, or else what the client sent. The draft
   * learns the contents it is made of; without one there are none.
   */
  upstream(sent: SentReport | null, client: WrittenBody | null, asked: UpstreamOf): Required<Attached> {
    const [bytes] = sent?.body ?? [];
    if (bytes === undefined || bytes.length === 0 || bytes.length > limits.contentBytesMax) return none;
    const { exchange, stream, draft, forms } = asked;
    const before = this.#kept.get(nameOf("upstream-request", stream))?.request ?? null;
    const request = draft === null ? null : ingestRequest(bytes, before);
    const fresh = request === null ? [] : placedUnits(request, sharedUnits(request, before));
    const slices = draft === null || request === null ? [] : draft.name(fresh, request);
    const beside =
      client === null ? null : { exchange, bytes: client.bytes, side: "client-request" as const };
    return this.#write("upstream-request", { exchange, stream, bytes, request, slices, forms }, beside);
  }

  #write(side: Side, written: WrittenBody, beside: Beside | null): Required<Attached> {
    const { exchange, stream, bytes, request, slices, forms } = written;
    const name = nameOf(side, stream);
    const before = this.#kept.get(name);
    const previous = before === undefined ? beside : { exchange: before.exchange, bytes: before.bytes, side };
    const shared = previous === null ? 0 : commonPrefixLength(previous.bytes, bytes);
    const { hash, start } = hashOnwards(bytes, shared, before?.start ?? null);
    // Bytes of no block are a content of their own, so that they too can be erased.
    const whole = slices.length === 0 && previous === null;
    const named: readonly Slice[] = whole ? [{ start: 0, length: bytes.length, content: hash }] : slices;
    const recipe = diffRecipe({ previous, next: bytes, slices: named, sharedStart: shared }).map(ownPiece);
    this.#kept.set(name, { exchange, bytes, request, forms, start });
    if (before !== undefined) this.#memory.giveBack(before.bytes);
    const body: Body = { session: this.#session, exchange, side, hash, length: bytes.length, recipe };
    return { contents: whole ? [{ hash, bytes: new Uint8Array(bytes) }] : [], bodies: [body] };
  }
}

/** A batch may wait for long, and the memory of a body is used again. */
function ownPiece(piece: Piece): Piece {
  return piece.from === "literal" ? { ...piece, bytes: new Uint8Array(piece.bytes) } : piece;
}

/** Which exchange it is for, the draft of its turn, if it is one, and what was searched for in it. */
export type UpstreamOf = Pick<WrittenBody, "exchange" | "stream" | "forms"> & {
  readonly draft: Draft | null;
};
type Beside = { readonly exchange: number; readonly bytes: Uint8Array; readonly side: Side };

function nameOf(side: Side, stream: StreamId | null): string {
  return `${side} ${stream ?? "beside"}`;
}
