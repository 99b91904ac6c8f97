import { hashContent, limits, type SessionId, type StreamId } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { type Body, diffRecipe, type Side, type Slice } from "../../store/index.ts";
import type { SentReport } from "../exchange.ts";
import type { Attached } from "../outbox.ts";
import { placedUnits, sharedUnits } from "./align.ts";
import type { Draft } from "./draft.ts";

type Kept = {
  readonly exchange: number;
  readonly bytes: Uint8Array;
  /** What went upstream, read: so that of the next one only what is new has to be. */
  readonly request: WireRequest | null;
};

/** A body of an exchange, to be written down. */
export type WrittenBody = {
  readonly exchange: number;
  readonly stream: StreamId | null;
  readonly bytes: Uint8Array;
  readonly slices: readonly Slice[];
};

const none: Required<Attached> = { contents: [], bodies: [] };

/**
 * The last bodies of each stream, and of requests beside them: what the next one is written in terms of. They
 * only save room and time.
 */
export class KeptBodies {
  readonly #session: SessionId;
  readonly #kept = new Map<string, Kept>();

  constructor(session: SessionId) {
    this.#session = session;
  }

  has(stream: StreamId | null): boolean {
    return this.#kept.has(nameOf("client-request", stream));
  }

  bytes(): number {
    return [...this.#kept.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  clear(): void {
    this.#kept.clear();
  }

  /** What the client sent. */
  request(written: WrittenBody): Required<Attached> {
    return this.#write("client-request", written, { beside: null, request: null });
  }

  /**
   * What went upstream in its place. It resembles the one before, or else what the client sent. The draft
   * learns the contents it is made of; without one there are none.
   */
  upstream(sent: SentReport | null, client: WrittenBody | null, asked: UpstreamOf): Required<Attached> {
    const [bytes] = sent?.body ?? [];
    if (bytes === undefined || bytes.length === 0 || bytes.length > limits.contentBytesMax) return none;
    const { exchange, stream, draft } = asked;
    const before = this.#kept.get(nameOf("upstream-request", stream))?.request ?? null;
    const request = draft === null ? null : ingestRequest(bytes, before);
    const fresh = request === null ? [] : placedUnits(request, sharedUnits(request, before));
    const slices = draft === null || request === null ? [] : draft.name(fresh, request);
    const beside =
      client === null ? null : { exchange, bytes: client.bytes, side: "client-request" as const };
    return this.#write("upstream-request", { exchange, stream, bytes, slices }, { beside, request });
  }

  #write(side: Side, written: WrittenBody, { beside, request }: Context): Required<Attached> {
    const { exchange, stream, bytes, slices } = written;
    const name = nameOf(side, stream);
    const before = this.#kept.get(name);
    const previous = before === undefined ? beside : { exchange: before.exchange, bytes: before.bytes, side };
    const hash = hashContent(bytes);
    // Bytes of no block are a content of their own, so that they too can be erased.
    const whole = slices.length === 0 && previous === null;
    const named: readonly Slice[] = whole ? [{ start: 0, length: bytes.length, content: hash }] : slices;
    const recipe = diffRecipe({ previous, next: bytes, slices: named });
    this.#kept.set(name, { exchange, bytes, request });
    const body: Body = { session: this.#session, exchange, side, hash, length: bytes.length, recipe };
    return { contents: whole ? [{ hash, bytes }] : [], bodies: [body] };
  }
}

/** Which exchange it is for, and the draft of its turn, if it is one. */
export type UpstreamOf = {
  readonly exchange: number;
  readonly stream: StreamId | null;
  readonly draft: Draft | null;
};
type Context = {
  readonly beside: { readonly exchange: number; readonly bytes: Uint8Array; readonly side: Side } | null;
  readonly request: WireRequest | null;
};

function nameOf(side: Side, stream: StreamId | null): string {
  return `${side} ${stream ?? "beside"}`;
}
