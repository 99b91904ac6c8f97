import {
  assert,
  type BlockId,
  blockId,
  type ContentHash,
  type MessageId,
  messageId,
  type Turn,
  turnOf,
  type UnitId,
  unitId,
} from "../../base/index.ts";
import type { Block, BlockKind, Delta, State, Taint, Ttl, Unit } from "../../engine/index.ts";
import { unitBytes, type WireGroup, type WireRequest, type WireUnit } from "../../protocols/index.ts";
import type { Content, Slice } from "../../store/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import { type Alignment, groupsOf, type PlacedUnit } from "./align.ts";
import type { IdPool } from "./id-pool.ts";
import type { StreamIndex } from "./stream-index.ts";

/** Turns until a block is lowered by one level, by kind; what is not named here stays. */
const ttlTurns: Readonly<Partial<Record<BlockKind, number>>> = {
  user: 108,
  assistant: 108,
  reasoning: 12,
  "tool-call": 20,
  "tool-result": 20,
  media: 8,
};

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
  readonly slices: Slice[] = [];
  readonly #place: DraftPlace;
  readonly #learn: (() => void)[] = [];
  readonly #sent = new Set<ContentHash>();
  readonly #pairs = new Map<string, MessageId>();
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
  request({ path, fresh }: Alignment, request: WireRequest): readonly UnitId[] {
    const { bytes } = request;
    this.#reserve(fresh.length, new Set(fresh.map(({ group }) => group)).size);
    const counts = countsBefore(request, path.length, fresh);
    const messages = new Map<WireGroup, MessageId>();
    const whole = [...path];
    for (const placed of fresh) {
      const { unit, group } = placed;
      const nth = counts.get(unit.key) ?? 0;
      counts.set(unit.key, nth + 1);
      const known = this.#place.index.block(unit.key, nth);
      const message = known === null ? this.#messageOf(messages, group) : this.#messageOfBlock(known);
      const block = known ?? this.#addBlock({ unit, message, pair: this.#pairOf(placed, message) });
      if (known === null) this.#noteCall(unit, message);
      whole.push(this.#addUnit({ unit, parent: whole.at(-1) ?? null, message, block }));
      this.#keep(unit.hash, unitBytes(bytes, group.range.start, unit));
      this.#slice(placed);
    }
    return whole;
  }

  /** Without an earlier body to refer to, what was sent before is named by its content too. */
  nameKnown({ path }: Alignment, request: WireRequest): void {
    let left = path.length;
    for (const group of groupsOf(request)) {
      for (const unit of group.units.slice(0, left)) {
        this.#keep(unit.hash, unitBytes(request.bytes, group.range.start, unit));
        this.#slice({ unit, group });
      }
      left = Math.max(0, left - group.units.length);
    }
  }

  /** The blocks of an answer. They become units when the client sends them back. */
  answer(units: readonly { readonly unit: WireUnit; readonly bytes: Uint8Array }[]): void {
    if (units.length === 0) return;
    this.#reserve(units.length, 1);
    const message = messageId(this.#place.ids.take("message"));
    const pair = units.some(({ unit }) => unit.kind === "tool-call") ? message : null;
    for (const { unit, bytes } of units) {
      this.#addBlock({ unit, message, pair });
      this.#noteCall(unit, message);
      this.#keep(unit.hash, bytes);
    }
  }

  /** Bytes that belong to no block but must be stored with this frame. */
  #keep(hash: ContentHash, bytes: Uint8Array): void {
    if (this.#place.stored.has(hash) || this.#sent.has(hash)) return;
    this.#sent.add(hash);
    this.contents.push({ hash, bytes });
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

  #messageOfBlock(block: BlockId): MessageId {
    const found = this.#place.state.blocks.get(block);
    assert(found !== undefined, "the index knows only blocks that are there");
    return found.block.message;
  }

  /** A result joins the call it answers; the parts of a message that calls belong together. */
  #pairOf({ unit, group }: PlacedUnit, message: MessageId): MessageId | null {
    if (unit.kind === "tool-result" && unit.callId !== null) {
      return this.#pairs.get(unit.callId) ?? this.#place.index.pairOfCall(unit.callId);
    }
    const calls = group.role === "assistant" && group.units.some(({ kind }) => kind === "tool-call");
    return calls ? message : null;
  }

  #noteCall({ kind, callId }: WireUnit, message: MessageId): void {
    if (kind !== "tool-call" || callId === null) return;
    this.#pairs.set(callId, message);
    this.#learn.push(() => this.#place.index.addCall(callId, message));
  }

  #addBlock({ unit, message, pair }: Adding): BlockId {
    const { index, ids, turn, model } = this.#place;
    const id = blockId(ids.take("block"));
    const said = unit.section === "messages" && unit.role === "assistant";
    const block: Block = {
      id,
      kind: unit.kind,
      stream: index.stream,
      message,
      turn,
      speaker: said ? "model" : "client",
      content: unit.hash,
      anchor: unit.key,
      pair,
      taint: taintOf(unit),
      supersedes: null,
      ttl: ttlOf(unit.kind, turn),
    };
    this.deltas.push({ type: "block-added", block });
    this.deltas.push({ type: "tokens-counted", block: id, tokens: estimateTokens(unit.length, model) });
    this.#learn.push(() => index.addBlock(unit.key, id));
    return id;
  }

  #addUnit({ unit, parent, message, block }: Sending): UnitId {
    const id = unitId(this.#units);
    this.#units += 1;
    const { index } = this.#place;
    const sent: Unit = {
      id,
      stream: index.stream,
      parent,
      message,
      origin: unit.section === "messages" && unit.role === "assistant" ? "model" : "client",
      anchor: unit.key,
      bytes: unit.hash,
      shows: [{ block, as: "original" }],
    };
    this.deltas.push({ type: "unit-sent", unit: sent });
    this.#learn.push(() => index.addUnit(parent, unit.key, id));
    return id;
  }

  #slice({ unit, group }: PlacedUnit): void {
    for (const { at, from, length } of unit.places) {
      this.slices.push({ start: group.range.start + at, length, content: unit.hash, from });
    }
  }
}

type Adding = { readonly unit: WireUnit; readonly message: MessageId; readonly pair: MessageId | null };
type Sending = {
  readonly unit: WireUnit;
  readonly parent: UnitId | null;
  readonly message: MessageId;
  readonly block: BlockId;
};

/** How often each key of the new units stands among those before them. */
function countsBefore(
  request: WireRequest,
  count: number,
  fresh: readonly PlacedUnit[],
): Map<string, number> {
  const counts = new Map(fresh.map(({ unit }) => [unit.key, 0]));
  let left = count;
  for (const { units } of groupsOf(request)) {
    for (const { key } of units.slice(0, left)) {
      const known = counts.get(key);
      if (known !== undefined) counts.set(key, known + 1);
    }
    left = Math.max(0, left - units.length);
  }
  return counts;
}

function taintOf({ kind, role, section }: WireUnit): Taint {
  if (kind === "tool-result" || kind === "media") return "untrusted";
  return section === "messages" && role === "assistant" ? "model" : "user";
}

function ttlOf(kind: BlockKind, turn: Turn): Ttl | null {
  const spanTurns = ttlTurns[kind];
  return spanTurns === undefined ? null : { at: turnOf(turn + spanTurns), spanTurns };
}
