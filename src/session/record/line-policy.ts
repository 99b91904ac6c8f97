import { type BlockId, blockId, canonicalJson, type Turn, turnOf } from "../../base/index.ts";
import {
  alone,
  archive,
  type Block,
  blocksOf,
  type Change,
  type Delta,
  expire,
  factOf,
  factValue,
  factVersion,
  isFocused,
  isPinned,
  notesOf,
  type Place,
  pairOf,
  placeOf,
  propose,
  staleTurns,
  supersede,
  withPairs,
} from "../../engine/index.ts";
import type { SentReport } from "../exchange.ts";
import { pressureReason } from "../ledger/pruning.ts";
import type { AddedWords } from "./renditions.ts";
import { StaleWatch } from "./stale-watch.ts";

/** What is done without anybody asking, and why. */
export type PolicyAct = { readonly reason: string; readonly deltas: readonly Delta[] };

/** Results of calls that are remembered, to see when one is made again. */
const callsMax = 2_000;

/**
 * What happens to the blocks of a stream by themselves. It knows only the past: what was not used for a while
 * is trimmed, what was asked for again is superseded, what has reached the end of its ttl goes one level
 * down. All of it changes what is wanted; what is shown changes with the next rewrite.
 */
export class LinePolicy {
  readonly #stale = new StaleWatch();
  readonly #answers = new Map<string, { readonly block: BlockId; readonly tokens: number }>();
  #superseded: { readonly older: BlockId; readonly newer: BlockId }[] = [];
  /** Superseded, and to be lowered once there is less of them: by the next turn there is, or never. */
  readonly #overtaken = new Map<BlockId, string>();
  #referred: readonly BlockId[] = [];
  #pruned: readonly BlockId[] = [];
  #cut: readonly BlockId[] = [];
  #settled = 0;
  #isRead = false;

  /** Blocks that came with a request or an answer. */
  added(words: readonly AddedWords[]): void {
    for (const { block, call, tokens, isError } of words) {
      this.#watch(block);
      if (call === null || isError) continue;
      const key = canonicalJson([call.name, call.input]);
      const older = this.#answers.get(key);
      // An answer may only say that nothing has changed: it stands for nothing but itself.
      if (older !== undefined && tokens < older.tokens / 2) continue;
      if (older !== undefined) this.#superseded.push({ older: older.block, newer: block.id });
      this.#answers.delete(key);
      this.#answers.set(key, { block: block.id, tokens });
      const [oldest] = this.#answers.keys();
      if (this.#answers.size > callsMax && oldest !== undefined) this.#answers.delete(oldest);
    }
  }

  /** Blocks the last answer refers to. */
  referred(blocks: readonly BlockId[]): void {
    this.#referred = blocks;
  }

  /** Those, once. */
  referredTo(): readonly BlockId[] {
    const referred = this.#referred;
    this.#referred = [];
    return referred;
  }

  /** Blocks of which less is wanted as soon as there is less of them. */
  overtaken(): ReadonlySet<BlockId> {
    return new Set(this.#overtaken.keys());
  }

  /** What was cut when it came is wanted so. */
  arrived(sent: SentReport | null): void {
    const isCut = sent !== null && sent.epoch === null && sent.rendering === "managed";
    const cut = isCut ? sent.fresh.filter(({ as, origin }) => as === "trimmed" && origin === "client") : [];
    this.#cut = cut.flatMap(({ numbered }) => (numbered === null ? [] : [blockId(numbered.block)]));
  }

  /** What had to go because there was no room for it is archived: it does not come back by itself. */
  rewritten(sent: SentReport | null): void {
    if (sent?.epoch?.reason !== "pressure") return;
    const pruned = sent.fresh.filter(({ as, numbered }) => as === "placeholder" && numbered !== null);
    this.#pruned = pruned.flatMap(({ numbered }) => (numbered === null ? [] : [blockId(numbered.block)]));
  }

  /** After a turn; each act is to be appended before the next is asked for. */
  *settle(changeNow: () => Change, turn: Turn): Generator<PolicyAct> {
    this.#read(changeNow());
    yield { reason: "cut on arrival", deltas: this.#trimCut(changeNow()) };
    yield { reason: pressureReason, deltas: this.#prune(changeNow()) };
    yield* this.#supersede(changeNow);
    yield { reason: "not used for a while", deltas: this.#trimStale(changeNow(), turn) };
    const since = turnOf(this.#settled);
    this.#settled = turn;
    const change = changeNow();
    const over = expire(change, since).deltas.filter((delta) => isFree(change, delta));
    yield { reason: "its turns are over", deltas: over };
  }

  /** What an earlier process recorded is watched like the rest. */
  #read({ moment, view }: Change): void {
    if (this.#isRead) return;
    this.#isRead = true;
    for (const block of blocksOf(moment, view)) this.#watch(block);
  }

  /** What people and models say is not stale because nobody repeats it: it ends with its ttl only. */
  #watch({ id, kind, turn }: Block): void {
    if (kind === "tool-result" || kind === "tool-call") this.#stale.add(id, turn);
  }

  #trimCut(change: Change): readonly Delta[] {
    const { moment, view } = change;
    const cut = this.#cut.filter((block) => {
      const place = placeOf(moment, view, block);
      return place !== null && factValue(place, "level") === "original" && !isPinned(place);
    });
    this.#cut = [];
    return propose(change, alone(change, cut), () => ({ level: "trimmed" })).deltas;
  }

  #prune(change: Change): readonly Delta[] {
    const { moment, view } = change;
    const pruned = this.#pruned.filter((block) => {
      const place = placeOf(moment, view, block);
      return place !== null && factValue(place, "archive") === null && factOf(place, "level").by === "policy";
    });
    this.#pruned = [];
    const archived = archive(change, pruned, pressureReason);
    return archived.ok ? archived.value.deltas : [];
  }

  *#supersede(changeNow: () => Change): Generator<PolicyAct> {
    for (const older of [...this.#overtaken.keys()]) yield this.#lowerOvertaken(changeNow(), older);
    const pairs = this.#superseded;
    this.#superseded = [];
    for (const { older, newer } of pairs) {
      const reason = `superseded by #${newer}`;
      yield { reason, deltas: supersede(changeNow(), older, newer).deltas };
      this.#overtaken.set(older, reason);
      const change = changeNow();
      if (hasLevel(change, older, "minimal")) yield this.#lowerOvertaken(change, older);
    }
  }

  #lowerOvertaken(change: Change, older: BlockId): PolicyAct {
    const reason = this.#overtaken.get(older) ?? "";
    this.#overtaken.delete(older);
    return { reason, deltas: lower(change, [older], { level: "minimal", isOver: isSuperseded }) };
  }

  #trimStale(change: Change, turn: number): readonly Delta[] {
    const { moment, view } = change;
    const isOver = (place: Place): boolean => turn - factValue(place, "reference").turn >= staleTurns;
    return lower(change, this.#stale.take(moment, view, turn), { level: "trimmed", isOver });
  }
}

function isSuperseded(place: Place): boolean {
  return place.block.kind !== "tool-result" || factValue(place, "supersession") !== null;
}

/** What was lowered once and brought back is not lowered by itself again, with all that belongs to it. */
function isBroughtBack(place: Place): boolean {
  return pairOf(place).some((member) => {
    const [level, archived] = [factVersion(member, "level"), factVersion(member, "archive")];
    return level?.value.value === "original" || (archived !== null && archived.value.value === null);
  });
}

function isFree({ moment, view }: Change, delta: Delta): boolean {
  const place =
    "block" in delta && typeof delta.block === "number" ? placeOf(moment, view, delta.block) : null;
  return place === null || !isBroughtBack(place);
}

/** To which level, and whether a block's time has come: a pair goes only as a whole. */
type Lowering = { readonly level: "trimmed" | "minimal"; readonly isOver: (place: Place) => boolean };

/** Asks for less of some blocks, where there is less of them and nobody has said otherwise. */
function lower(change: Change, blocks: readonly BlockId[], lowering: Lowering): readonly Delta[] {
  const { moment, view } = change;
  const { level } = lowering;
  const shorter = blocks.filter((block) => hasLevel(change, block, level));
  const free = shorter.filter((block) => {
    const place = placeOf(moment, view, block);
    return place !== null && mayLower(place, lowering);
  });
  return propose(change, withPairs(change, free), () => ({ level })).deltas;
}

function hasLevel({ moment }: Change, block: BlockId, level: Lowering["level"]): boolean {
  return notesOf(moment, block)?.renditions[level] !== undefined;
}

function mayLower(place: Place, { level, isOver }: Lowering): boolean {
  if (factValue(place, "archive") !== null || isPinned(place) || isBroughtBack(place)) return false;
  const now = factValue(place, "level");
  if (now !== "original" && !(now === "trimmed" && level === "minimal")) return false;
  return pairOf(place).every(
    (member) => isOver(member) && !isFocused(member) && !factValue(member, "selection"),
  );
}
