import {
  assert,
  type BlockId,
  type MessageId,
  must,
  type StreamId,
  type UnitId,
  type ViewId,
} from "../base/index.ts";
import type { Unit } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { exchangeOf, lastSentTurn, now, sentPath } from "../engine/moment/index.ts";
import { nodeId, nodeKey } from "../exchange/index.ts";
import { readStoredRequest, type WireRequest } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";

/** The last turn of a stream, with which the next request is compared. */
export type LastTurn = {
  readonly exchange: number;
  /** One unit per wire unit, in order; empty if the ledger sent other units. */
  readonly path: readonly UnitId[];
  /** One block per wire unit if the ledger sent other units; empty if the blocks are unknown. */
  readonly blocks: readonly BlockId[];
  /** Keys of the messages, without tools and system texts. */
  readonly messageKeys: readonly string[];
  /** The request itself, so that the next one can reuse its parts; null after a restart. */
  readonly request: WireRequest | null;
};

const ROOT = -1;

/** The only child of a unit. Most units have one, and a map for each would take much memory. */
type ChildUnit = { readonly anchor: string; readonly id: UnitId };

/**
 * Finds the units and blocks of a stream by their keys: the unit that follows another, the block of a key. It
 * only saves time and can be rebuilt from the state.
 */
export class StreamIndex {
  readonly stream: StreamId;
  readonly view: ViewId;
  last: LastTurn | null = null;
  readonly #children = new Map<number, ChildUnit | Map<string, UnitId>>();
  readonly #blocksByKey = new Map<string, BlockId[]>();
  readonly #pairByCall = new Map<string, MessageId>();
  readonly #unitByNode = new Map<string, UnitId>();
  readonly #nodeOfUnit = new Map<UnitId, string>();

  constructor(stream: StreamId, view: ViewId) {
    this.stream = stream;
    this.view = view;
  }

  /** If a unit has several children with one key, the newest is used. */
  child(parent: UnitId | null, key: string): UnitId | null {
    const children = this.#children.get(parent ?? ROOT);
    if (children === undefined) return null;
    if (children instanceof Map) return children.get(key) ?? null;
    return children.anchor === key ? children.id : null;
  }

  #addChild(parent: number, child: ChildUnit): void {
    const children = this.#children.get(parent);
    if (children === undefined) this.#children.set(parent, child);
    else if (children instanceof Map) children.set(child.anchor, child.id);
    else this.#children.set(parent, new Map([children, child].map(({ anchor, id }) => [anchor, id])));
  }

  /** Without a node id from the ledger, the id is computed as the ledger would. */
  addUnit({ id, parent, anchor, bytes, cleared }: Unit, node?: string): void {
    this.#addChild(parent ?? ROOT, { anchor, id });
    const parentNode = parent === null ? null : (this.#nodeOfUnit.get(parent) ?? null);
    const ownNode = node ?? nodeId(parentNode, nodeKey(anchor, cleared === true), bytes);
    this.#unitByNode.set(ownNode, id);
    this.#nodeOfUnit.set(id, ownNode);
  }

  unitAtNode(node: string): UnitId | null {
    return this.#unitByNode.get(node) ?? null;
  }

  /** The block of the nth occurrence of a key on one path, counted from 0. */
  block(key: string, nth: number): BlockId | null {
    return this.#blocksByKey.get(key)?.[nth] ?? null;
  }

  /** Counts the blocks of a key on a path. Blocks of one key occur in the same order on every path. */
  blocksAmong(key: string, isOnPath: (block: BlockId) => boolean): number {
    const blocks = this.#blocksByKey.get(key) ?? [];
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOnPath(must(blocks[middle], "it lies between the ends"))) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  addBlock(key: string, block: BlockId): void {
    const blocks = this.#blocksByKey.get(key) ?? [];
    assert(!blocks.includes(block), "a block is added once");
    blocks.push(block);
    this.#blocksByKey.set(key, blocks);
  }

  pairOfCall(callId: string): MessageId | null {
    return this.#pairByCall.get(callId) ?? null;
  }

  addCall(callId: string, pair: MessageId): void {
    this.#pairByCall.set(callId, pair);
  }

  knows(key: string): boolean {
    return this.#blocksByKey.has(key);
  }
}

/** Builds the index of every stream from a state. */
export function indexStreams(state: State): ReadonlyMap<StreamId, StreamIndex> {
  const indexes = new Map<StreamId, StreamIndex>();
  for (const [, view] of state.views.entries()) {
    if (!indexes.has(view.stream)) indexes.set(view.stream, new StreamIndex(view.stream, view.id));
  }
  for (const [, { block }] of state.blocks.entries()) {
    const index = indexes.get(block.stream);
    index?.addBlock(block.anchor, block.id);
    const callId = block.kind === "tool-call" ? callIdOf(block.anchor) : null;
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
  const sent = lastSentTurn(now(state), view);
  if (sent === null) return null;
  const path = sentPath(now(state), view);
  const units = path.map((unit) => must(state.units.get(unit), "a path is made of sent units"));
  const isMessageUnit = ({ origin, shows }: Unit): boolean =>
    origin !== "aperture" && shows.every(({ block }) => state.blocks.get(block)?.block.kind !== "system");
  const wasPlanned = exchangeOf(now(state), sent.exchange)?.rendering !== "raw";
  return {
    exchange: sent.exchange,
    path: wasPlanned ? [] : path,
    blocks: [],
    messageKeys: units.filter(isMessageUnit).map(({ anchor }) => anchor),
    request: null,
  };
}

function callIdOf(anchor: string): string | null {
  return anchor.startsWith("call:") ? anchor.slice("call:".length) : null;
}

/** Reads the client's last request of each stream from the store, if the planner sent another body for it. */
export async function recallConversations(
  indexes: readonly StreamIndex[],
  stateNow: () => State,
  store: Pick<Store, "body">,
): Promise<void> {
  const { session } = stateNow();
  for (const index of indexes) {
    const exchange = index.last?.exchange ?? 0;
    const recorded = exchangeOf(now(stateNow()), exchange);
    if (recorded === null || recorded.rendering === "raw") continue;
    const body = await store.body({ session, exchange, side: "client-request" });
    const request = body.ok ? readStoredRequest(body.value, recorded) : null;
    if (request === null || index.last?.exchange !== exchange) continue;
    index.last = { ...index.last, messageKeys: request.messageKeys, request };
  }
}
