import { type ContentHash, must } from "../../src/base/index.ts";
import type { BodyForm } from "../../src/engine/frames/index.ts";
import { nodeId, type SentRequest, type SentRequestUnit } from "../../src/exchange/index.ts";
import { protocolOf, unitBytes, type WireRequest, type WireUnit } from "../../src/protocols/index.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

/** What is sent in place of a client's body, and how. */
export type Rendered = {
  readonly client: Buffer;
  readonly upstream: Buffer;
  readonly over?: Partial<SentRequest>;
  readonly rendering?: BodyForm;
};

type Placed = { readonly unit: WireUnit; readonly bytes: Uint8Array };

/**
 * A ledger by hand: it reports what was sent as a planner would, without deciding anything. A unit is the
 * client's if the client sent the same bytes; any other is ours.
 */
export class HandLedger {
  readonly #told = new Set<string>();

  /** In shared memory, as a planner hands it over. */
  report({ client, upstream, over = {}, rendering = "managed" }: Rendered): SentRequest {
    const said = unitsOf(client).map(({ unit }) => unit.hash);
    const fresh: SentRequestUnit[] = [];
    let parent: string | null = null;
    for (const placed of unitsOf(upstream)) {
      const unit = this.#unit(placed, said, parent);
      if (!this.#told.has(unit.id)) fresh.push(unit);
      this.#told.add(unit.id);
      parent = unit.id;
    }
    const body = shared(upstream);
    const half = body.length >> 1;
    return {
      rendering,
      streamKey: "l",
      generatedName: null,
      wishesSeq: 0,
      leaf: must(parent, "a request has units"),
      fresh,
      aliases: [],
      isTurn: true,
      body: [body.subarray(0, half), body.subarray(half)],
      length: body.length,
      epoch: null,
      ...over,
    };
  }

  #unit({ unit, bytes }: Placed, said: readonly ContentHash[], parent: string | null): SentRequestUnit {
    const index = said.indexOf(unit.hash);
    const origin = index === -1 ? "aperture" : unit.role === "assistant" ? "model" : "client";
    const id = nodeId(parent, unit.key, unit.hash);
    return {
      id,
      parent,
      origin,
      key: unit.key,
      clientIndex: index === -1 ? null : index,
      numbered: null,
      as: "original",
      bytes: shared(bytes),
    };
  }
}

/** The places of a body's units, in order. */
export function placesOf(body: Buffer): readonly string[] {
  const places: string[] = [];
  for (const { unit } of unitsOf(body)) places.push(nodeId(places.at(-1) ?? null, unit.key, unit.hash));
  return places;
}

/** The hashes of a body's units, in order. */
export function hashesOf(body: Buffer): readonly string[] {
  return unitsOf(body).map(({ unit }) => unit.hash);
}

/** The keys of what is said in a body. */
export function messageKeysOf(body: Buffer): readonly string[] {
  return read(body).messageKeys;
}

export function shared(bytes: Uint8Array): Buffer {
  const copy = Buffer.from(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function unitsOf(body: Buffer): readonly Placed[] {
  const request = read(body);
  return [request.tools, request.system, ...request.messages].flatMap(({ units, range }) =>
    units.map((unit) => ({ unit, bytes: unitBytes(request.bytes, range.start, unit) })),
  );
}

function read(body: Buffer): WireRequest {
  return must(readRequest(body, null), "the body is a request");
}
