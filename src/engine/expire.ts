import { apertureError, type BlockId, must, type Turn, turnOf } from "../base/index.ts";
import { type ChangeContext, type Proposal, pairTargets, propose } from "./change-facts.ts";
import { type Level, levels, type Ttl } from "./frames/block.ts";
import { type FactValues, outranks } from "./frames/facts.ts";
import { isFocused, isPinned, nextLevelDown, staleTurns } from "./moment/lifecycle.ts";
import {
  asOf,
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  type Moment,
  pairOf,
  streamOf,
  turnNow,
  viewOf,
} from "./moment/moment.ts";
import type { Stream, View } from "./state.ts";

/**
 * Lowers by one level every block whose ttl ended after turn `since`, up to now. A pair lives as long as its
 * longest-lived block. Only the hints of those turns are read, so the cost is what expires, not what exists.
 */
export function expire(context: ChangeContext, since: Turn): Proposal {
  const stream = must(streamOf(context.moment, context.view.stream), "a view has a stream");
  const turn = turnNow(context.moment, stream);
  const candidates = new Set<BlockId>();
  for (let at = since + 1; at <= turn; at += 1) {
    for (const id of hintsAt(context.moment, context.view, at)) candidates.add(id);
  }
  const due = [...candidates].filter((id) => isDue(context, id, turn));
  return propose(context, pairTargets(context, due), (blockView) => loweredFacts(context, blockView, turn));
}

/** A fork inherits the hints of its parents; hints about blocks it cannot reach are dropped by `isDue`. */
function hintsAt(moment: Moment, view: View, turn: number): readonly BlockId[] {
  const hints: BlockId[] = [];
  for (let ancestor: View | null = view; ancestor !== null; ) {
    hints.push(...(ancestor.due.get(turn) ?? []));
    ancestor =
      ancestor.parent === null ? null : viewOf(asOf(moment, ancestor.parent.seq), ancestor.parent.view);
  }
  for (let stream: Stream | null = streamOf(moment, view.stream); stream !== null; ) {
    hints.push(...(stream.due.get(turn) ?? []));
    stream = stream.parent === null ? null : streamOf(moment, stream.parent.stream);
  }
  return hints;
}

function isDue(context: ChangeContext, id: BlockId, turn: Turn): boolean {
  const blockView = blockViewOf(context.moment, context.view, id);
  const alive = blockView === null ? [] : pairOf(blockView).filter(isAlive);
  // A block without a ttl never expires, and neither does its pair.
  const ends = alive.map((member) => factValue(member, "ttl")?.at ?? Number.POSITIVE_INFINITY);
  return ends.length > 0 && ends.every((at) => at <= turn);
}

function isAlive(blockView: BlockView): boolean {
  return factValue(blockView, "archive") === null;
}

type LoweredFacts = Partial<Pick<FactValues, "level" | "archive" | "ttl">>;

function loweredFacts(
  context: ChangeContext,
  blockView: BlockView,
  turn: Turn,
): LoweredFacts | ReturnType<typeof apertureError> {
  if (!isAlive(blockView)) return {};
  if (isPinned(blockView)) return apertureError("AP_CHANGE_PINNED", { block: blockView.block.id });
  const ttl = nextTtl(factValue(blockView, "ttl"), turn);
  if (isAttended(blockView, turn)) return { ttl };
  // The ttl stays: bringing the block back renews it.
  const next = nextLevelDown(pairLevel(blockView));
  if (next === "archive") return keptLevelError(context, blockView) ?? { archive: { reason: "expired" } };
  return { level: lowest([next, factValue(blockView, "level")]), ttl };
}

/** Archiving comes after the lowest level: an actor that chose that level wants the block to stay visible. */
function keptLevelError(
  { actor }: ChangeContext,
  blockView: BlockView,
): ReturnType<typeof apertureError> | null {
  const { by } = factOf(blockView, "level");
  const details = { block: blockView.block.id, fact: "level", by, actor };
  return outranks(actor, by) ? null : apertureError("AP_CHANGE_LOCKED", details);
}

/**
 * The highest level in the pair. A pair is lowered as one: blocks that are lower already wait for the rest.
 */
function pairLevel(blockView: BlockView): Level {
  const members = pairOf(blockView).filter(isAlive);
  return must(
    levels.find((level) => members.some((member) => factValue(member, "level") === level)),
    "a block has a level",
  );
}

function lowest(choices: readonly Level[]): Level {
  return must(
    levels.findLast((level) => choices.includes(level)),
    "one of two levels is the lowest",
  );
}

/**
 * A pair with a block that is selected, focused or was just referenced waits another span: attention is the
 * opposite of expiry.
 */
function isAttended(blockView: BlockView, turn: Turn): boolean {
  const isReferenced = (member: BlockView): boolean => {
    const { count, turn: last } = factValue(member, "reference");
    return count > 0 && turn - last < staleTurns;
  };
  return pairOf(blockView).some(
    (member) => isFocused(member) || factValue(member, "selection") || isReferenced(member),
  );
}

function nextTtl(ttl: Ttl | null, turn: Turn): Ttl | null {
  return ttl === null ? null : { at: turnOf(turn + ttl.spanTurns), spanTurns: ttl.spanTurns };
}
