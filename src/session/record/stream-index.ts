import {
  assert,
  type BlockId,
  type MessageId,
  must,
  type StreamId,
  type UnitId,
  type ViewId,
} from "../../base/index.ts";
import { exchangeOf, lastSent, now, pathOf, type State, type Unit } from "../../engine/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { placeId, placeKey } from "../place-id.ts";

/** The turn a stream sent last: what the next request is compared with. */
export type LastTurn = {
  readonly exchange: number;
  /** One unit per wire unit, in order; empty where the ledger sent others. */
  readonly path: readonly UnitId[];
  /** One block per wire unit where the ledger sent others; empty where nobody looked. */
  readonly blocks: readonly BlockId[];
  /** The keys of what was said, without tools and system texts. */
  readonly talk: readonly string[];
  /** The request itself, to take over from; null after a restart. */
  readonly request: WireRequest | null;
};

const ROOT = -1;

/** The only unit below another: most have no more, and a table for each would take much room. */
type Child = { readonly anchor: string; readonly id: UnitId };

/**
 * What a stream's ledger looks like from the side of its keys: which unit follows which, which block a key
 * means. It can be made again from the state at any time and is only there to be quick.
 */
export class StreamIndex {
  readonly stream: StreamId;
  readonly view: ViewId;
  last: LastTurn | null = null;
  readonly #children = new Map<number, Child | Map<string, UnitId>>();
  readonly #blocks = new Map<string, BlockId[]>();
  readonly #pairs = new Map<string, MessageId>();
  readonly #places = new Map<string, UnitId>();
  readonly #placeNames = new Map<UnitId, string>();

  constructor(stream: StreamId, view: ViewId) {
    this.stream = stream;
    this.view = view;
  }

  /** Where several copies hang below one unit, the newest is the one that goes on. */
  child(parent: UnitId | null, key: string): UnitId | null {
    const below = this.#children.get(parent ?? ROOT);
    if (below === undefined) return null;
    if (below instanceof Map) return below.get(key) ?? null;
    return below.anchor === key ? below.id : null;
  }

  #addChild(parent: number, child: Child): void {
    const below = this.#children.get(parent);
    if (below === undefined) this.#children.set(parent, child);
    else if (below instanceof Map) below.set(child.anchor, child.id);
    else this.#children.set(parent, new Map([below, child].map(({ anchor, id }) => [anchor, id])));
  }

  /** The place is what the ledger calls it; without one, what the ledger would call it. */
  addUnit({ id, parent, anchor, bytes, cleared }: Unit, place?: string): void {
    this.#addChild(parent ?? ROOT, { anchor, id });
    const above = parent === null ? null : (this.#placeNames.get(parent) ?? null);
    const name = place ?? placeId(above, placeKey(anchor, cleared === true), bytes);
    this.#places.set(name, id);
    this.#placeNames.set(id, name);
  }

  /** The unit the ledger has at a place. */
  unitAt(place: string): UnitId | null {
    return this.#places.get(place) ?? null;
  }

  /** The block a key means when it comes for the nth time on one path, counted from 0. */
  block(key: string, nth: number): BlockId | null {
    return this.#blocks.get(key)?.[nth] ?? null;
  }

  /** How many of a path's blocks a key means: the copies of one key are met in order on every path. */
  blocksAmong(key: string, isOnPath: (block: BlockId) => boolean): number {
    const blocks = this.#blocks.get(key) ?? [];
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOnPath(must(blocks[middle], "it lies between the ends"))) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  addBlock(key: string, block: BlockId): void {
    const blocks = this.#blocks.get(key) ?? [];
    assert(!blocks.includes(block), "a block is added once");
    blocks.push(block);
    this.#blocks.set(key, blocks);
  }

  pairOfCall(callId: string): MessageId | null {
    return this.#pairs.get(callId) ?? null;
  }

  addCall(callId: string, pair: MessageId): void {
    this.#pairs.set(callId, pair);
  }

  knows(key: string): boolean {
    return this.#blocks.has(key);
  }
}

/** Reads the index of every stream from a state. */
export function indexStreams(state: State): ReadonlyMap<StreamId, StreamIndex> {
  const indexes = new Map<StreamId, StreamIndex>();
  for (const [, view] of state.views.entries()) {
    if (!indexes.has(view.stream)) indexes.set(view.stream, new StreamIndex(view.stream, view.id));
  }
  for (const [, { block }] of state.blocks.entries()) {
    const index = indexes.get(block.stream);
    index?.addBlock(block.anchor, block.id);
    const callId = block.kind === "tool-call" ? callOf(block.anchor) : null;
    if (callId !== null && block.pair !== null) index?.addCall(callId, block.pair);
  }
  for (const [, unit] of state.units.entries()) {
    indexes.get(unit.stream)?.addUnit(unit);
  }
  for (const index of indexes.values()) index.last = lastTurn(state, index.view);
  return indexes;
}

function lastTurn(state: State, id: ViewId): LastTurn | null {
  const view = must(state.views.get(id), "an index belongs to a view");
  const sent = lastSent(now(state), view);
  if (sent === null) return null;
  const path = pathOf(now(state), view);
  const units = path.map((unit) => must(state.units.get(unit), "a path is made of sent units"));
  const isTalk = ({ origin, shows }: Unit): boolean =>
    origin !== "aperture" && shows.every(({ block }) => state.blocks.get(block)?.block.kind !== "system");
  const isOurs = exchangeOf(now(state), sent.exchange)?.rendering !== "raw";
  return {
    exchange: sent.exchange,
    path: isOurs ? [] : path,
    blocks: [],
    talk: units.filter(isTalk).map(({ anchor }) => anchor),
    request: null,
  };
}

function callOf(anchor: string): string | null {
  return anchor.startsWith("call:") ? anchor.slice("call:".length) : null;
}
