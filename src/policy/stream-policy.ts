import { type BlockId, blockId, canonicalJson, type Json, type Turn, turnOf } from "../base/index.ts";
import type { Block, Delta } from "../engine/frames/index.ts";
import { type ChangeContext, changes, type View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  factVersion,
  isFocused,
  isPinned,
  type Moment,
  pairOf,
  staleTurns,
  viewBlocks,
} from "../engine/moment/index.ts";
import type { SentRequest, SentRequestUnit } from "../exchange/index.ts";
import { pressureReason } from "./choose-cut.ts";

/** An automatic change, and its reason. */
export type PolicyAct = { readonly reason: string; readonly deltas: readonly Delta[] };

export type ToolInvocation = { readonly name: string; readonly input: { readonly [key: string]: Json } };

/** A block that came with a request or an answer. */
export type ArrivedBlock = {
  readonly block: Block;
  /** The call that a result answers. Null for other blocks. */
  readonly call: ToolInvocation | null;
  readonly tokens: number;
  readonly isError: boolean;
};

/** Bounds the results that are remembered, to notice a call that is repeated. */
const callsMax = 2_000;

/**
 * Lowers the blocks of a stream automatically, by what has happened: a block that was not used for a while is
 * trimmed, the result of a repeated call is superseded, and a block at the end of its ttl goes one level
 * down. Only levels change; what is shown changes with the next rewrite.
 */
export class StreamPolicy {
  readonly #stale = new StaleBlocks();
  /** The newest result of each call. */
  readonly #results = new Map<string, { readonly block: BlockId; readonly tokens: number }>();
  #superseded: { readonly older: BlockId; readonly newer: BlockId }[] = [];
  /** Superseded blocks without a minimal rendition, with the reason. It comes by the next turn or never. */
  readonly #awaitingMinimal = new Map<BlockId, string>();
  #references: readonly BlockId[] = [];
  #pruned: readonly BlockId[] = [];
  #trimmedOnArrival: readonly BlockId[] = [];
  #lastTurn = 0;
  #hasReadLog = false;

  addBlocks(blocks: readonly ArrivedBlock[]): void {
    for (const { block, call, tokens, isError } of blocks) {
      this.#watch(block);
      if (call === null || isError) continue;
      const key = canonicalJson([call.name, call.input]);
      const older = this.#results.get(key);
      // A much smaller result may only say that nothing has changed: it supersedes nothing.
      if (older !== undefined && tokens < older.tokens / 2) continue;
      if (older !== undefined) this.#superseded.push({ older: older.block, newer: block.id });
      this.#results.delete(key);
      this.#results.set(key, { block: block.id, tokens });
      const [oldest] = this.#results.keys();
      if (this.#results.size > callsMax && oldest !== undefined) this.#results.delete(oldest);
    }
  }

  /** Remembers the blocks that the last answer refers to. */
  noteReferences(blocks: readonly BlockId[]): void {
    this.#references = blocks;
  }

  /** Returns those blocks once. */
  takeReferences(): readonly BlockId[] {
    const references = this.#references;
    this.#references = [];
    return references;
  }

  /** Superseded blocks that are lowered as soon as they have a minimal rendition. */
  blocksAwaitingMinimal(): ReadonlySet<BlockId> {
    return new Set(this.#awaitingMinimal.keys());
  }

  /** Blocks trimmed on arrival stay `trimmed`. */
  noteArrivals(sent: SentRequest | null): void {
    const isManagedTurn = sent !== null && sent.epoch === null && sent.rendering === "managed";
    const trimmed = isManagedTurn
      ? sent.fresh.filter(({ as, origin }) => as === "trimmed" && origin === "client")
      : [];
    this.#trimmedOnArrival = numberedBlocks(trimmed);
  }

  /** Blocks that a rewrite pruned under pressure are archived: they do not come back by themselves. */
  noteRewrite(sent: SentRequest | null): void {
    if (sent?.epoch?.reason !== "pressure") return;
    this.#pruned = numberedBlocks(sent.fresh.filter(({ as }) => as === "placeholder"));
  }

  /** The acts after a turn. Each must be appended before the next is taken. */
  *actsAfterTurn(changeNow: () => ChangeContext, turn: Turn): Generator<PolicyAct> {
    this.#readLog(changeNow());
    yield { reason: "cut on arrival", deltas: this.#trimArrivals(changeNow()) };
    yield { reason: pressureReason, deltas: this.#archivePruned(changeNow()) };
    yield* this.#supersede(changeNow);
    yield { reason: "not used for a while", deltas: this.#trimStale(changeNow(), turn) };
    const since = turnOf(this.#lastTurn);
    this.#lastTurn = turn;
    const change = changeNow();
    const expired = changes.expire(change, since).deltas.filter((delta) => mayExpire(change, delta));
    yield { reason: "its turns are over", deltas: expired };
  }

  /** Watches the blocks that an earlier process recorded. */
  #readLog({ moment, view }: ChangeContext): void {
    if (this.#hasReadLog) return;
    this.#hasReadLog = true;
    for (const block of viewBlocks(moment, view)) this.#watch(block);
  }

  /** Watches calls and results. A text is not stale because nothing refers to it: only its ttl ends it. */
  #watch({ id, kind, turn }: Block): void {
    if (kind === "tool-result" || kind === "tool-call") this.#stale.add(id, turn);
  }

  #trimArrivals(change: ChangeContext): readonly Delta[] {
    const { moment, view } = change;
    const trimmed = this.#trimmedOnArrival.filter((block) => {
      const blockView = blockViewOf(moment, view, block);
      return blockView !== null && factValue(blockView, "level") === "original" && !isPinned(blockView);
    });
    this.#trimmedOnArrival = [];
    const targets = changes.singleTargets(change, trimmed);
    return changes.propose(change, targets, () => ({ level: "trimmed" })).deltas;
  }

  #archivePruned(change: ChangeContext): readonly Delta[] {
    const { moment, view } = change;
    const pruned = this.#pruned.filter((block) => {
      const blockView = blockViewOf(moment, view, block);
      if (blockView === null || factValue(blockView, "archive") !== null) return false;
      return factOf(blockView, "level").by === "policy";
    });
    this.#pruned = [];
    const archived = changes.archive(change, pruned, pressureReason);
    return archived.ok ? archived.value.deltas : [];
  }

  *#supersede(changeNow: () => ChangeContext): Generator<PolicyAct> {
    for (const older of [...this.#awaitingMinimal.keys()]) yield this.#lowerSuperseded(changeNow(), older);
    const pairs = this.#superseded;
    this.#superseded = [];
    for (const { older, newer } of pairs) {
      const reason = `superseded by #${newer}`;
      yield { reason, deltas: changes.supersede(changeNow(), older, newer).deltas };
      this.#awaitingMinimal.set(older, reason);
      const change = changeNow();
      if (hasRendition(change, older, "minimal")) yield this.#lowerSuperseded(change, older);
    }
  }

  #lowerSuperseded(change: ChangeContext, older: BlockId): PolicyAct {
    const reason = this.#awaitingMinimal.get(older) ?? "";
    this.#awaitingMinimal.delete(older);
    return { reason, deltas: lower(change, [older], { level: "minimal", isDue: isSuperseded }) };
  }

  #trimStale(change: ChangeContext, turn: number): readonly Delta[] {
    const { moment, view } = change;
    const isDue = (block: BlockView): boolean => turn - factValue(block, "reference").turn >= staleTurns;
    return lower(change, this.#stale.takeStale(moment, view, turn), { level: "trimmed", isDue });
  }
}

function numberedBlocks(units: readonly SentRequestUnit[]): readonly BlockId[] {
  return units.flatMap(({ numbered }) => (numbered === null ? [] : [blockId(numbered.block)]));
}

function isSuperseded(blockView: BlockView): boolean {
  return blockView.block.kind !== "tool-result" || factValue(blockView, "supersession") !== null;
}

/** Whether a block or its pair was lowered and brought back: then it is never lowered automatically again. */
function isBroughtBack(blockView: BlockView): boolean {
  return pairOf(blockView).some((member) => {
    const [level, archived] = [factVersion(member, "level"), factVersion(member, "archive")];
    return level?.value.value === "original" || (archived !== null && archived.value.value === null);
  });
}

function mayExpire({ moment, view }: ChangeContext, delta: Delta): boolean {
  const blockView =
    "block" in delta && typeof delta.block === "number" ? blockViewOf(moment, view, delta.block) : null;
  return blockView === null || !isBroughtBack(blockView);
}

type LoweringRule = {
  readonly level: "trimmed" | "minimal";
  /** Whether a block is due. A pair is lowered only if both members are. */
  readonly isDue: (blockView: BlockView) => boolean;
};

/** Lowers blocks that have a rendition at the level and that neither user nor model protects. */
function lower(change: ChangeContext, blocks: readonly BlockId[], rule: LoweringRule): readonly Delta[] {
  const { moment, view } = change;
  const { level } = rule;
  const lowerable = blocks.filter((block) => {
    const blockView = hasRendition(change, block, level) ? blockViewOf(moment, view, block) : null;
    return blockView !== null && mayLower(blockView, rule);
  });
  return changes.propose(change, changes.pairTargets(change, lowerable), () => ({ level })).deltas;
}

function hasRendition({ moment }: ChangeContext, block: BlockId, level: LoweringRule["level"]): boolean {
  return attributesOf(moment, block)?.renditions[level] !== undefined;
}

function mayLower(blockView: BlockView, { level, isDue }: LoweringRule): boolean {
  if (factValue(blockView, "archive") !== null || isPinned(blockView) || isBroughtBack(blockView))
    return false;
  const present = factValue(blockView, "level");
  if (present !== "original" && !(present === "trimmed" && level === "minimal")) return false;
  return pairOf(blockView).every(
    (member) => isDue(member) && !isFocused(member) && !factValue(member, "selection"),
  );
}

/** Sorts blocks by the turn in which they may become stale, so that only due ones are looked at. */
class StaleBlocks {
  readonly #due = new Map<number, BlockId[]>();
  #lastTurn = 0;

  /** Adds a block of a turn. */
  add(block: BlockId, turn: number): void {
    this.#schedule(Math.max(turn + staleTurns, this.#lastTurn + 1), block);
  }

  /** The blocks that became stale up to a turn. Each is returned once. */
  takeStale(moment: Moment, view: View, turn: number): readonly BlockId[] {
    const stale: BlockId[] = [];
    for (let at = this.#lastTurn + 1; at <= turn; at += 1) {
      const due = this.#due.get(at) ?? [];
      this.#due.delete(at);
      this.#lastTurn = at;
      for (const block of due) {
        const blockView = blockViewOf(moment, view, block);
        if (blockView === null) continue;
        const staleAt = factValue(blockView, "reference").turn + staleTurns;
        if (staleAt > at) this.#schedule(staleAt, block);
        else stale.push(block);
      }
    }
    return stale;
  }

  #schedule(turn: number, block: BlockId): void {
    const due = this.#due.get(turn);
    if (due === undefined) this.#due.set(turn, [block]);
    else due.push(block);
  }
}
