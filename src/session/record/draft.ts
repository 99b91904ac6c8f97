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
} from "../../base/index.ts";
import type { Block, Delta, State, Taint, Unit } from "../../engine/index.ts";
import {
  type AnswerUnit,
  spokenIn,
  unitBytes,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "../../protocols/index.ts";
import type { Content, Slice } from "../../store/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import type { AnswerNumbers } from "../desk-port.ts";
import type { Numbered, SentUnit } from "../exchange.ts";
import { ttlOf } from "../ttl.ts";
import { type Alignment, countsBefore, type PlacedUnit, placedUnits } from "./align.ts";
import type { IdPool } from "./id-pool.ts";
import type { StreamIndex } from "./stream-index.ts";

export type DraftPlace = {
  readonly state: State;
  readonly index: StreamIndex;
  readonly ids: IdPool;
  /** Contents this session has stored already. */
  readonly stored: ReadonlySet<ContentHash>;
  readonly turn: Turn;
  readonly model: string | null;
};

/**
 * What a request or an answer adds to a session, put together without touching the session: deltas, contents,
 * and what the index must learn once they are accepted.
 */
export class Draft {
  readonly deltas: Delta[] = [];
  readonly contents: Content[] = [];
  readonly #place: DraftPlace;
  readonly #learn: (() => void)[] = [];
  readonly #sent = new Set<ContentHash>();
  readonly #pairs = new Map<string, MessageId>();
  readonly #added = new Map<BlockId, MessageId>();
  readonly #accepted = new Set<number>();
  #units = 0;

  constructor(place: DraftPlace) {
    this.#place = place;
    this.#units = place.state.units.size;
  }

  /** Tells the index what the log now holds. */
  learn(): void {
    for (const step of this.#learn) step();
  }

  /** The whole path of a request: what was sent before, and a new unit for everything after it. */
  request({ path, fresh: placed }: Alignment, request: WireRequest, numbered: Numbers): readonly UnitId[] {
    const fresh = placed.map((one, at) => ({ ...one, told: numbered.get(path.length + at) ?? null }));
    const nameless = fresh.filter(({ told }) => told === null || !this.#accept(told));
    this.#reserve(nameless.length, new Set(nameless.map(({ group }) => group)).size);
    const { index } = this.#place;
    // A key that means no block yet stands nowhere before.
    const known = fresh.map(({ unit }) => unit.key).filter((key) => index.knows(key));
    const counts = countsBefore(request, path.length, known);
    const messages = new Map<WireGroup, MessageId>();
    const whole = [...path];
    for (const placed of fresh) {
      const { unit, group } = placed;
      const nth = counts.get(unit.key) ?? 0;
      counts.set(unit.key, nth + 1);
      const known = this.#toldBlock(placed.told) ?? index.block(unit.key, nth);
      const block = known ?? this.#newBlock(placed, messages);
      this.#keep(unit.hash, () => unitBytes(request.bytes, group.range.start, unit));
      const origin = isSaid(unit) ? "model" : "client";
      const shows = [{ block, as: "original" }] as const;
      const parent = whole.at(-1) ?? null;
      const { key: anchor, hash: bytes } = unit;
      whole.push(
        this.#addUnit({ parent, message: this.#messageOfBlock(block), origin, anchor, bytes, shows }),
      );
    }
    return whole;
  }

  /**
   * The block of each unit of a request, made where there is none yet: those are the fresh ones. The blocks
   * of the first units are known.
   */
  blocks(request: WireRequest, { known, numbered }: KnownBlocks): RequestBlocks {
    const { index } = this.#place;
    const rest = placedUnits(request, known.length);
    const isKnown = membership(known, rest.length);
    const counts = new Map<string, number>();
    const placed = rest.map(({ unit, group }, at) => {
      const nth = counts.get(unit.key) ?? index.blocksAmong(unit.key, isKnown);
      counts.set(unit.key, nth + 1);
      const told = numbered.get(known.length + at) ?? null;
      return { unit, group, told, block: this.#toldBlock(told) ?? index.block(unit.key, nth) };
    });
    const fresh = placed.filter(({ block }) => block === null);
    const nameless = fresh.filter(({ told }) => told === null || !this.#accept(told));
    this.#reserve(nameless.length, new Set(nameless.map(({ group }) => group)).size);
    const messages = new Map<WireGroup, MessageId>();
    const blocks = [...known];
    const made: FreshUnit[] = [];
    for (const one of placed) {
      const { unit, group } = one;
      const block = one.block ?? this.#newBlock(one, messages);
      blocks.push(block);
      if (one.block !== null) continue;
      made.push({ unit, group, block });
      this.#keep(unit.hash, () => unitBytes(request.bytes, group.range.start, unit));
    }
    return { blocks, fresh: made };
  }

  /**
   * Units as the ledger sent them. Those of the client show its blocks. Contract: every parent is known, or
   * comes first.
   */
  sent(units: readonly SentUnit[], blocks: readonly BlockId[]): (place: string) => UnitId | null {
    const { index } = this.#place;
    const made = new Map<string, UnitId>();
    const unitAt = (place: string): UnitId | null => made.get(place) ?? index.unitAt(place);
    for (const {
      id: place,
      parent: above,
      origin,
      key: anchor,
      unit,
      numbered,
      as,
      bytes,
      cleared,
    } of units) {
      if (unitAt(place) !== null) continue;
      // What a client has joined is one unit of its own, and still the blocks that the model was told of.
      const known = this.#toldBlock(numbered) ?? (unit === null ? undefined : blocks[unit]);
      const block = known ?? this.#ownBlock({ key: anchor, origin, numbered, bytes });
      const message = block === undefined ? null : this.#messageOfBlock(block);
      const shows = block === undefined ? [] : [{ block, as }];
      const parent = above === null ? null : unitAt(above);
      assert(above === null || parent !== null, "a unit is sent after its parent");
      const hash = hashContent(bytes);
      const sent = { parent, message, origin, anchor, bytes: hash, shows };
      made.set(place, this.#addUnit(cleared === undefined ? sent : { ...sent, cleared }, place));
      this.#keep(hash, () => bytes);
    }
    return unitAt;
  }

  /** What a call of our tools came to: a block that the client does not know of. */
  #ownBlock({ key, origin, numbered, bytes }: OwnUnit): BlockId | undefined {
    if (numbered === null || origin !== "aperture" || !this.#accept(numbered)) return undefined;
    const spoken = spokenIn(bytes);
    const pair = spoken?.type === "result" ? this.#pairOfCall(spoken.callId) : null;
    const { kind, message } = numbered;
    const unit = { kind, key, hash: hashContent(bytes), length: bytes.length, role: "user" } as const;
    return this.#addBlock({ unit, message: messageId(message), pair, told: numbered, speaker: "aperture" });
  }

  /** What a body holds, by the contents it is made of: erasing one of them erases it there too. */
  name(placed: readonly PlacedUnit[], { bytes }: WireRequest): readonly Slice[] {
    return placed.flatMap(({ unit, group }) => {
      this.#keep(unit.hash, () => unitBytes(bytes, group.range.start, unit));
      return unit.places.map(({ at, from, length }) => ({
        start: group.range.start + at,
        length,
        content: unit.hash,
        from,
      }));
    });
  }

  /** The blocks of an answer, one for each unit. They become units when the client sends them back. */
  answer(units: readonly AnswerUnit[], numbered: AnswerNumbers): readonly BlockId[] {
    const told = units.map((_, at) => (numbered?.length === units.length ? (numbered[at] ?? null) : null));
    // The same answer once more: identical requests may get one.
    const known = told.map((given) => this.#toldBlock(given));
    const fresh = units.flatMap((one, at) =>
      known[at] === null ? [{ ...one, told: told[at] ?? null, at }] : [],
    );
    const blocks = new Map(known.entries());
    const areNumbered = fresh.every(({ told: given }) => given !== null && this.#accept(given));
    if (fresh.length === 0) return known.flatMap((block) => (block === null ? [] : [block]));
    if (!areNumbered) this.#reserve(fresh.length, 1);
    const first = areNumbered ? (fresh[0]?.told?.message ?? null) : null;
    const message = messageId(first ?? this.#place.ids.take("message"));
    const pair = units.some(({ unit }) => unit.kind === "tool-call") ? message : null;
    for (const { unit, bytes, told: given, at } of fresh) {
      blocks.set(at, this.#addBlock({ unit, message, pair, told: areNumbered ? given : null }));
      this.#noteCall(unit, message);
      this.#keep(unit.hash, () => bytes);
    }
    return units.map((_, at) => must(blocks.get(at) ?? null, "every unit of an answer is a block"));
  }

  /** The block the desk means, where the log has it already. */
  #toldBlock(told: Numbered | null): BlockId | null {
    const block = told === null ? undefined : this.#place.state.blocks.get(told.block)?.block;
    return block?.stream === this.#place.index.stream ? block.id : null;
  }

  /** Whether the log keeps to the desk's numbers. They are the desk's own unless a record was lost. */
  #accept(told: Numbered): boolean {
    if (this.#accepted.has(told.block)) return true;
    const deltas = this.#place.ids.accept(this.#place.state, told);
    if (deltas === null) return false;
    this.deltas.push(...deltas);
    this.#accepted.add(told.block);
    return true;
  }

  /** To be stored with this frame, in memory of its own: that of a body is used again. */
  #keep(hash: ContentHash, bytes: () => Uint8Array): void {
    if (this.#place.stored.has(hash) || this.#sent.has(hash)) return;
    this.#sent.add(hash);
    this.contents.push({ hash, bytes: new Uint8Array(bytes()) });
  }

  #reserve(blocks: number, messages: number): void {
    this.deltas.push(...this.#place.ids.reserve(this.#place.state, { block: blocks, message: messages }));
  }

  #messageOf(messages: Map<WireGroup, MessageId>, group: WireGroup): MessageId {
    const known = messages.get(group);
    if (known !== undefined) return known;
    const message = messageId(this.#place.ids.take("message"));
    messages.set(group, message);
    return message;
  }

  #newBlock(placed: ToldUnit, messages: Map<WireGroup, MessageId>): BlockId {
    const { told: given = null, unit, group } = placed;
    const told = given !== null && this.#accepted.has(given.block) ? given : null;
    const message = told === null ? this.#messageOf(messages, group) : messageId(told.message);
    const pair = this.#pairOf(placed, message);
    const block = this.#addBlock({ unit, message, pair, told });
    this.#noteCall(unit, message);
    return block;
  }

  #messageOfBlock(block: BlockId): MessageId {
    const added = this.#added.get(block);
    if (added !== undefined) return added;
    const found = this.#place.state.blocks.get(block);
    assert(found !== undefined, "the index knows only blocks that are there");
    return found.block.message;
  }

  /** A result joins the call it answers; the parts of a message that calls belong together. */
  #pairOf({ unit, group }: PlacedUnit, message: MessageId): MessageId | null {
    if (unit.kind === "tool-result" && unit.callId !== null) return this.#pairOfCall(unit.callId);
    const calls = group.role === "assistant" && group.units.some(({ kind }) => kind === "tool-call");
    return calls ? message : null;
  }

  #pairOfCall(callId: string): MessageId | null {
    return this.#pairs.get(callId) ?? this.#place.index.pairOfCall(callId);
  }

  #noteCall({ kind, callId }: WireUnit, message: MessageId): void {
    if (kind !== "tool-call" || callId === null) return;
    this.#pairs.set(callId, message);
    this.#learn.push(() => this.#place.index.addCall(callId, message));
  }

  #addBlock({ unit, message, pair, told, speaker }: Adding): BlockId {
    const { index, ids, turn, model } = this.#place;
    const id = blockId(told?.block ?? ids.take("block"));
    const block: Block = {
      id,
      kind: unit.kind,
      stream: index.stream,
      message,
      turn,
      speaker: speaker ?? (isSaid(unit) ? "model" : "client"),
      content: unit.hash,
      anchor: unit.key,
      pair,
      taint: taintOf(unit),
      supersedes: null,
      ttl: told === null ? ttlOf(unit.kind, turn) : told.ttl,
    };
    const tokens = told === null ? estimateTokens(unit.length, model) : { count: told.tokens, exact: false };
    this.deltas.push({ type: "block-added", block });
    this.deltas.push({ type: "tokens-counted", block: id, tokens });
    this.#added.set(id, message);
    this.#learn.push(() => index.addBlock(unit.key, id));
    return id;
  }

  #addUnit(unit: Omit<Unit, "id" | "stream">, place?: string): UnitId {
    const id = unitId(this.#units);
    this.#units += 1;
    const { index } = this.#place;
    const sent: Unit = { id, stream: index.stream, ...unit };
    this.deltas.push({ type: "unit-sent", unit: sent });
    this.#learn.push(() => index.addUnit(sent, place));
    return id;
  }
}

/** The blocks of all units of a request, in order, and the units that had none before. */
export type RequestBlocks = {
  readonly blocks: readonly BlockId[];
  readonly fresh: readonly FreshUnit[];
};

/** A unit that was not there before, and the block it has become; null where nobody has looked. */
export type FreshUnit = PlacedUnit & { readonly block: BlockId | null };

/** Few are looked up by going through the list; for many it is worth a table. */
function membership(known: readonly BlockId[], lookups: number): (block: BlockId) => boolean {
  if (lookups <= 16) return (block) => known.includes(block);
  const table = new Set(known);
  return (block) => table.has(block);
}

type Adding = {
  readonly unit: AddedUnit;
  /** Who says it, where that is neither the client nor the model. */
  readonly speaker?: "aperture";
  readonly message: MessageId;
  readonly pair: MessageId | null;
  /** What the desk calls it; null where the log gives the number. */
  readonly told: Numbered | null;
};
type AddedUnit = Pick<WireUnit, "kind" | "key" | "hash" | "length" | "role"> & Partial<WireUnit>;
type OwnUnit = Pick<SentUnit, "key" | "origin" | "numbered" | "bytes">;
type ToldUnit = PlacedUnit & { readonly told?: Numbered | null };

/** The blocks of the first units, and what the desk calls those it has sent for the first time, by unit. */
export type KnownBlocks = {
  readonly known: readonly BlockId[];
  readonly numbered: Numbers;
};
/** What the desk calls units of the client, by which of them it is. */
export type Numbers = ReadonlyMap<number, Numbered>;

/** Whether the model said it. */
function isSaid({ section, role }: Pick<WireUnit, "role"> & Partial<WireUnit>): boolean {
  return section === "messages" && role === "assistant";
}

function taintOf(unit: AddedUnit): Taint {
  if (unit.kind === "tool-result" || unit.kind === "media") return "untrusted";
  return isSaid(unit) ? "model" : "user";
}
