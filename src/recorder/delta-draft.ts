import {
  assert,
  type BlockId,
  blockId,
  type ContentHash,
  hashContent,
  type MessageId,
  messageId,
  must,
  type Turn,
  type UnitId,
  unitId,
} from "../base/index.ts";
import type { Block, Delta, ProtocolName, Taint, Unit } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import type { BlockNumbers, NumberedBlock, SentRequestUnit } from "../exchange/index.ts";
import type { IdPool } from "../log/index.ts";
import { ttlOf } from "../policy/index.ts";
import {
  type AnswerUnit,
  protocolOf,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../protocols/index.ts";
import type { ContentSlice, HashedContent } from "../store/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import type { StreamIndex } from "./stream-index.ts";
import { type Alignment, countsBefore, type PlacedUnit, placedUnits } from "./unit-alignment.ts";

export type DeltaDraftDeps = {
  readonly state: State;
  readonly index: StreamIndex;
  readonly ids: IdPool;
  /** Contents this session has stored already. */
  readonly stored: ReadonlySet<ContentHash>;
  readonly turn: Turn;
  readonly model: string | null;
  readonly protocol: ProtocolName;
};

/**
 * Collects what a request or an answer adds to a session, without changing the session: deltas, contents, and
 * updates of the index that are applied once the log has accepted them.
 */
export class DeltaDraft {
  readonly deltas: Delta[] = [];
  readonly contents: HashedContent[] = [];
  readonly #deps: DeltaDraftDeps;
  readonly #indexUpdates: (() => void)[] = [];
  readonly #newHashes = new Set<ContentHash>();
  /** The contents of sent units by their node. */
  readonly #sentHashes = new Map<string, ContentHash>();
  readonly #pairByCall = new Map<string, MessageId>();
  readonly #messageByBlock = new Map<BlockId, MessageId>();
  readonly #acceptedBlocks = new Set<number>();
  #unitCount = 0;

  constructor(deps: DeltaDraftDeps) {
    this.#deps = deps;
    this.#unitCount = deps.state.units.size;
  }

  /** Applies the updates of the index; call it once the log has accepted the deltas. */
  updateIndex(): void {
    for (const update of this.#indexUpdates) update();
  }

  /** Returns the path of a request: the units sent before, and a new unit for each fresh one. */
  addRequest(
    { path, fresh: placed }: Alignment,
    request: WireRequest,
    numbers: UnitNumbers,
  ): readonly UnitId[] {
    const fresh = placed.map((one, at) => ({ ...one, numbered: numbers.get(path.length + at) ?? null }));
    const unnumbered = fresh.filter(({ numbered }) => numbered === null || !this.#accept(numbered));
    this.#reserve(unnumbered.length, new Set(unnumbered.map(({ group }) => group)).size);
    const { index } = this.#deps;
    // A key without a block cannot occur earlier in the request.
    const known = fresh.map(({ unit }) => unit.key).filter((key) => index.knows(key));
    const counts = countsBefore(request, path.length, known);
    const messages = new Map<WireGroup, MessageId>();
    const units = [...path];
    for (const one of fresh) {
      const { unit, group } = one;
      const nth = counts.get(unit.key) ?? 0;
      counts.set(unit.key, nth + 1);
      const known = this.#recordedBlock(one.numbered) ?? index.block(unit.key, nth);
      const block = known ?? this.#newBlock(one, messages);
      this.#addContent(unit.hash, () => unitBytes(request.bytes, group.range.start, unit));
      const origin = isFromModel(unit) ? "model" : "client";
      const shows = [{ block, as: "original" }] as const;
      const parent = units.at(-1) ?? null;
      const { key: anchor, hash: bytes } = unit;
      units.push(
        this.#addUnit({ parent, message: this.#messageOfBlock(block), origin, anchor, bytes, shows }),
      );
    }
    return units;
  }

  /**
   * Returns the block of each unit of a request, and adds one for each fresh unit. The blocks of the first
   * units are known.
   */
  addBlocks(request: WireRequest, { known, numbers }: KnownBlocks): RequestBlocks {
    const { index } = this.#deps;
    const rest = placedUnits(request, known.length);
    const isKnown = memberTest(known, rest.length);
    const counts = new Map<string, number>();
    const placed = rest.map(({ unit, group }, at) => {
      const nth = counts.get(unit.key) ?? index.blocksAmong(unit.key, isKnown);
      counts.set(unit.key, nth + 1);
      const numbered = numbers.get(known.length + at) ?? null;
      return { unit, group, numbered, block: this.#recordedBlock(numbered) ?? index.block(unit.key, nth) };
    });
    const fresh = placed.filter(({ block }) => block === null);
    const unnumbered = fresh.filter(({ numbered }) => numbered === null || !this.#accept(numbered));
    this.#reserve(unnumbered.length, new Set(unnumbered.map(({ group }) => group)).size);
    const messages = new Map<WireGroup, MessageId>();
    const blocks = [...known];
    const freshUnits: FreshUnit[] = [];
    for (const one of placed) {
      const { unit, group } = one;
      const block = one.block ?? this.#newBlock(one, messages);
      blocks.push(block);
      if (one.block !== null) continue;
      freshUnits.push({ unit, group, block });
      this.#addContent(unit.hash, () => unitBytes(request.bytes, group.range.start, unit));
    }
    return { blocks, fresh: freshUnits };
  }

  /**
   * Adds units as the ledger sent them; units of the client show its blocks. Returns a lookup of units by
   * node id. Contract: every parent is known or comes first.
   */
  addSentUnits(
    units: readonly SentRequestUnit[],
    blocks: readonly (BlockId | null)[],
  ): (node: string) => UnitId | null {
    const { index } = this.#deps;
    const added = new Map<string, UnitId>();
    const unitAt = (node: string): UnitId | null => added.get(node) ?? index.unitAtNode(node);
    for (const {
      id: node,
      parent: parentNode,
      origin,
      key: anchor,
      clientIndex,
      numbered,
      as,
      bytes,
      cleared,
    } of units) {
      if (unitAt(node) !== null) continue;
      // A client may join several blocks into one unit; the model still knows them by their own numbers.
      const known = this.#recordedBlock(numbered) ?? (clientIndex === null ? null : blocks[clientIndex]);
      const block = known ?? this.#ownBlock({ key: anchor, origin, numbered, bytes });
      const message = block === undefined ? null : this.#messageOfBlock(block);
      const shows = block === undefined ? [] : [{ block, as }];
      const parent = parentNode === null ? null : unitAt(parentNode);
      assert(parentNode === null || parent !== null, "a unit is sent after its parent");
      const hash = hashContent(bytes);
      this.#sentHashes.set(node, hash);
      const unit = { parent, message, origin, anchor, bytes: hash, shows };
      added.set(node, this.#addUnit(cleared === undefined ? unit : { ...unit, cleared }, node));
      this.#addContent(hash, () => bytes);
    }
    return unitAt;
  }

  /** Adds the result of one of our own tools: a block that the client does not know. */
  #ownBlock({ key, origin, numbered, bytes }: OwnUnit): BlockId | undefined {
    if (numbered === null || origin !== "aperture" || !this.#accept(numbered)) return undefined;
    const part = protocolOf({ protocol: this.#deps.protocol }).read.part(bytes);
    const pair = part.type === "result" ? this.#pairOfCall(part.callId) : null;
    const { kind, message } = numbered;
    const unit = { kind, key, hash: hashContent(bytes), length: bytes.length, role: "user" } as const;
    return this.#addBlock({ unit, message: messageId(message), pair, numbered, speaker: "aperture" });
  }

  /** The slices of a body by their contents, so that purging a content erases it in the body too. */
  nameSlices(placed: readonly PlacedUnit[], { bytes }: WireRequest): readonly ContentSlice[] {
    return placed.flatMap(({ unit, group }) => {
      this.#addContent(unit.hash, () => unitBytes(bytes, group.range.start, unit));
      return unit.slices.map(({ at, from, length }) => ({
        start: group.range.start + at,
        length,
        content: unit.hash,
        from,
      }));
    });
  }

  /**
   * Finds units that were added to this draft in the body that they were sent in, from an offset on. Their
   * last byte is left out, because a cache mark may stand before it. Null if one is not there.
   */
  findSlices(
    units: readonly SentRequestUnit[],
    body: Uint8Array,
    from: number,
  ): readonly ContentSlice[] | null {
    const buffer = Buffer.from(body.buffer, body.byteOffset, body.length);
    const slices: ContentSlice[] = [];
    let end = from;
    for (const { id, bytes } of units) {
      const length = Math.max(0, bytes.length - 1);
      const start = buffer.indexOf(bytes.subarray(0, length), end);
      if (start === -1) return null;
      slices.push({ start, length, content: this.#sentHashes.get(id) ?? hashContent(bytes) });
      end = start + length;
    }
    return slices;
  }

  /** Adds a block for each unit of an answer. They become units when the client sends them back. */
  addAnswer(units: readonly AnswerUnit[], numbers: BlockNumbers): readonly BlockId[] {
    const numberedBlocks = units.map((_, at) =>
      numbers?.length === units.length ? (numbers[at] ?? null) : null,
    );
    // The same answer may come twice, for identical requests.
    const known = numberedBlocks.map((numbered) => this.#recordedBlock(numbered));
    const fresh = units.flatMap((one, at) =>
      known[at] === null ? [{ ...one, numbered: numberedBlocks[at] ?? null, at }] : [],
    );
    const blocks = new Map(known.entries());
    const areNumbered = fresh.every(({ numbered }) => numbered !== null && this.#accept(numbered));
    if (fresh.length === 0) return known.flatMap((block) => (block === null ? [] : [block]));
    if (!areNumbered) this.#reserve(fresh.length, 1);
    const first = areNumbered ? (fresh[0]?.numbered?.message ?? null) : null;
    const message = messageId(first ?? this.#deps.ids.take("message"));
    const pair = units.some(({ unit }) => unit.kind === "tool-call") ? message : null;
    for (const { unit, bytes, numbered, at } of fresh) {
      blocks.set(at, this.#addBlock({ unit, message, pair, numbered: areNumbered ? numbered : null }));
      this.#noteCall(unit, message);
      this.#addContent(unit.hash, () => bytes);
    }
    return units.map((_, at) => must(blocks.get(at) ?? null, "every unit of an answer is a block"));
  }

  /** The block with the planner's number, if the log has it already. */
  #recordedBlock(numbered: NumberedBlock | null): BlockId | null {
    const block = numbered === null ? undefined : this.#deps.state.blocks.get(numbered.block)?.block;
    return block?.stream === this.#deps.index.stream ? block.id : null;
  }

  /** True if the log can use the planner's numbers: they are free unless a record was lost. */
  #accept(numbered: NumberedBlock): boolean {
    if (this.#acceptedBlocks.has(numbered.block)) return true;
    const deltas = this.#deps.ids.accept(this.#deps.state, numbered);
    if (deltas === null) return false;
    this.deltas.push(...deltas);
    this.#acceptedBlocks.add(numbered.block);
    return true;
  }

  /** Stores a content with this frame. The bytes are copied, because the buffer of a body is reused. */
  #addContent(hash: ContentHash, bytes: () => Uint8Array): void {
    if (this.#deps.stored.has(hash) || this.#newHashes.has(hash)) return;
    this.#newHashes.add(hash);
    this.contents.push({ hash, bytes: new Uint8Array(bytes()) });
  }

  #reserve(blocks: number, messages: number): void {
    this.deltas.push(...this.#deps.ids.reserve(this.#deps.state, { block: blocks, message: messages }));
  }

  #messageOf(messages: Map<WireGroup, MessageId>, group: WireGroup): MessageId {
    const known = messages.get(group);
    if (known !== undefined) return known;
    const message = messageId(this.#deps.ids.take("message"));
    messages.set(group, message);
    return message;
  }

  #newBlock(placed: NumberedUnit, messages: Map<WireGroup, MessageId>): BlockId {
    const { numbered: given, unit, group } = placed;
    const numbered = given !== null && this.#acceptedBlocks.has(given.block) ? given : null;
    const message = numbered === null ? this.#messageOf(messages, group) : messageId(numbered.message);
    const pair = this.#pairOf(placed, message);
    const block = this.#addBlock({ unit, message, pair, numbered });
    this.#noteCall(unit, message);
    return block;
  }

  #messageOfBlock(block: BlockId): MessageId {
    const added = this.#messageByBlock.get(block);
    if (added !== undefined) return added;
    const found = this.#deps.state.blocks.get(block);
    assert(found !== undefined, "the index knows only blocks that are there");
    return found.block.message;
  }

  /** A result is paired with the call it answers; all units of a message with calls are one pair. */
  #pairOf({ unit, group }: PlacedUnit, message: MessageId): MessageId | null {
    if (unit.kind === "tool-result" && unit.callId !== null) return this.#pairOfCall(unit.callId);
    const calls = group.role === "assistant" && group.units.some(({ kind }) => kind === "tool-call");
    return calls ? message : null;
  }

  #pairOfCall(callId: string): MessageId | null {
    return this.#pairByCall.get(callId) ?? this.#deps.index.pairOfCall(callId);
  }

  #noteCall({ kind, callId }: WireUnit, message: MessageId): void {
    if (kind !== "tool-call" || callId === null) return;
    this.#pairByCall.set(callId, message);
    this.#indexUpdates.push(() => this.#deps.index.addCall(callId, message));
  }

  #addBlock({ unit, message, pair, numbered, speaker }: NewBlock): BlockId {
    const { index, ids, turn, model } = this.#deps;
    const id = blockId(numbered?.block ?? ids.take("block"));
    const block: Block = {
      id,
      kind: unit.kind,
      stream: index.stream,
      message,
      turn,
      speaker: speaker ?? (isFromModel(unit) ? "model" : "client"),
      content: unit.hash,
      form: this.#deps.protocol,
      anchor: unit.key,
      pair,
      taint: taintOf(unit),
      supersedes: null,
      ttl: numbered === null ? ttlOf(unit.kind, turn) : numbered.ttl,
    };
    const tokens =
      numbered === null ? estimateTokens(unit.length, model) : { count: numbered.tokens, exact: false };
    this.deltas.push({ type: "block-added", block });
    this.deltas.push({ type: "tokens-counted", block: id, tokens });
    this.#messageByBlock.set(id, message);
    this.#indexUpdates.push(() => index.addBlock(unit.key, id));
    return id;
  }

  #addUnit(unit: Omit<Unit, "id" | "stream">, node?: string): UnitId {
    const id = unitId(this.#unitCount);
    this.#unitCount += 1;
    const { index } = this.#deps;
    const sent: Unit = { id, stream: index.stream, ...unit };
    this.deltas.push({ type: "unit-sent", unit: sent });
    this.#indexUpdates.push(() => index.addUnit(sent, node));
    return id;
  }
}

/** The blocks of all units of a request, in order, and the units that had none before. */
export type RequestBlocks = {
  readonly blocks: readonly BlockId[];
  readonly fresh: readonly FreshUnit[];
};

/** A unit that no earlier request had, and its block; null if the block was not looked up. */
export type FreshUnit = PlacedUnit & { readonly block: BlockId | null };

/** For a few lookups it searches the list; for many it builds a set. */
function memberTest(known: readonly BlockId[], lookups: number): (block: BlockId) => boolean {
  if (lookups <= 16) return (block) => known.includes(block);
  const table = new Set(known);
  return (block) => table.has(block);
}

type NewBlock = {
  readonly unit: BlockUnit;
  /** Absent if the client or the model is the speaker. */
  readonly speaker?: "aperture";
  readonly message: MessageId;
  readonly pair: MessageId | null;
  /** Numbers from the planner; null if the log assigns them. */
  readonly numbered: NumberedBlock | null;
};
type BlockUnit = Pick<WireUnit, "kind" | "key" | "hash" | "length" | "role"> & Partial<WireUnit>;
type OwnUnit = Pick<SentRequestUnit, "key" | "origin" | "numbered" | "bytes">;
type NumberedUnit = PlacedUnit & { readonly numbered: NumberedBlock | null };

/** The blocks of the first units, and the planner's numbers of those it sent for the first time. */
export type KnownBlocks = {
  readonly known: readonly BlockId[];
  readonly numbers: UnitNumbers;
};
/** The planner's numbers by the index of the client's unit. */
export type UnitNumbers = ReadonlyMap<number, NumberedBlock>;

function isFromModel({ section, role }: Pick<WireUnit, "role"> & Partial<WireUnit>): boolean {
  return section === "messages" && role === "assistant";
}

function taintOf(unit: BlockUnit): Taint {
  if (unit.kind === "tool-result" || unit.kind === "media") return "untrusted";
  return isFromModel(unit) ? "model" : "user";
}
