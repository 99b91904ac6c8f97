import { assert, must } from "../../base/index.ts";
import { asBuffer, type BodyOverlap } from "../../exchange/index.ts";

const heldBytesMax = 64 * 1024 * 1024;

/** A body as bytes of the body before in its stream, which the receiving thread holds, and the rest. */
export type BodyPatch = {
  readonly streamKey: string | null;
  /** The request before in the stream, and how many bytes of its body come in front of the rest. */
  readonly baseRequest: string | null;
  readonly sharedBytes: number;
  readonly rest: Uint8Array;
  /** Bodies that the receiver can drop: no patch will refer to them. */
  readonly dropped: readonly HeldBody[];
};
type HeldBody = { readonly streamKey: string; readonly request: string };

/**
 * Knows which bodies the receiving thread holds, so that only the new bytes of the next body in a stream are
 * sent. The sender decides what the receiver keeps. When the two may disagree, the sender is cleared, and
 * bodies are sent whole again.
 */
export class BodySender {
  /** The last body of each stream; the most recently used stream comes last. */
  readonly #held = new Map<string, { readonly request: string; readonly length: number }>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = heldBytesMax) {
    this.#bytesMax = bytesMax;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  /** Bytes of a body that the receiver has already. */
  heldBytes({ streamKey, baseRequest, sharedBytes }: BodyOverlap): number {
    const held = streamKey === null ? undefined : this.#held.get(streamKey);
    return held !== undefined && held.request === baseRequest ? Math.min(sharedBytes, held.length) : 0;
  }

  /** Contract: the caller sends every patch, or clears the sender. */
  patchFor(request: string, body: Uint8Array, overlap: BodyOverlap): BodyPatch {
    const { streamKey, baseRequest } = overlap;
    const sharedBytes = this.heldBytes(overlap);
    const patch = { streamKey, baseRequest, sharedBytes, rest: new Uint8Array(body.subarray(sharedBytes)) };
    if (streamKey === null) return { ...patch, dropped: [] };
    this.#drop(streamKey);
    this.#held.set(streamKey, { request, length: body.length });
    this.#bytes += body.length;
    return { ...patch, dropped: this.#makeRoom(streamKey) };
  }

  #drop(streamKey: string): void {
    this.#bytes -= this.#held.get(streamKey)?.length ?? 0;
    this.#held.delete(streamKey);
  }

  #makeRoom(latest: string): readonly HeldBody[] {
    const dropped: HeldBody[] = [];
    for (const [streamKey, { request }] of this.#held) {
      if (this.#bytes <= this.#bytesMax || streamKey === latest) break;
      this.#drop(streamKey);
      dropped.push({ streamKey, request });
    }
    return dropped;
  }
}

/**
 * Restores bodies from patches, in the thread that receives them. Patches may be restored in another order.
 */
export class BodyReceiver {
  readonly #bodies = new Map<string, { readonly request: string; readonly body: Buffer }>();
  /** Requests whose bodies must be dropped as soon as they are restored, by stream. */
  readonly #toDrop = new Map<string, string>();

  /** Returns the whole body of a request. Throws if the base body is no longer held. */
  restore(request: string, { streamKey, baseRequest, sharedBytes, rest, dropped }: BodyPatch): Buffer {
    for (const old of dropped) this.#drop(old.streamKey, old.request);
    const body =
      sharedBytes === 0
        ? asBuffer(rest)
        : Buffer.concat([this.#start(streamKey, baseRequest, sharedBytes), rest]);
    if (streamKey !== null) this.#hold(streamKey, request, body);
    return body;
  }

  #start(streamKey: string | null, baseRequest: string | null, length: number): Buffer {
    const held = must(this.#bodies.get(streamKey ?? ""), "the body before is here");
    assert(held.request === baseRequest && held.body.length >= length, "it is the one that is meant");
    return held.body.subarray(0, length);
  }

  #hold(streamKey: string, request: string, body: Buffer): void {
    if (this.#toDrop.get(streamKey) === request) this.#bodies.delete(streamKey);
    else this.#bodies.set(streamKey, { request, body });
    this.#toDrop.delete(streamKey);
  }

  #drop(streamKey: string, request: string): void {
    if (this.#bodies.get(streamKey)?.request === request) this.#bodies.delete(streamKey);
    else this.#toDrop.set(streamKey, request);
  }
}
