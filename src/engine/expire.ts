import { apertureError, type BlockId, must, type Turn, turnOf } from "../base/index.ts";
import { type Level, levels, type Ttl } from "./block.ts";
import { type Change, type Proposal, propose, withPairs } from "./change.ts";
import { type FactValues, outranks } from "./facts.ts";
import { isFocused, isPinned, lowered, staleTurns } from "./lifecycle.ts";
import {
  asOf,
  factOf,
  factValue,
  type Moment,
  type Place,
  pairOf,
  placeOf,
  streamOf,
  turnNow,
  viewOf,
} from "./moment.ts";
import type { Stream, View } from "./state.ts";

/**
 * Lowers by one level every block whose ttl ended after turn `since`, up to now. A pair lives as long as the
 * longest of its blocks. Only the hints of those turns are looked at, so the cost is what expires, not what
 * exists.
 */
export function expire(change: Change, since: Turn): Proposal {
  const stream = must(streamOf(change.moment, change.view.stream), "a view has a stream");
  const turn = turnNow(change.moment, stream);
  const candidates = new Set<BlockId>();
  for (let at = since + 1; at <= turn; at += 1) {
    for (const id of hintsAt(change.moment, change.view, at)) candidates.add(id);
  }
  const due = [...candidates].filter((id) => isDue(change, id, turn));
  return propose(change, withPairs(change, due), (place) => lowering(change, place, turn));
}

/** A fork inherits the hints of its parents; those about blocks it cannot reach lead nowhere. */
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

function isDue(change: Change, id: BlockId, turn: Turn): boolean {
  const place = placeOf(change.moment, change.view, id);
  const alive = place === null ? [] : pairOf(place).filter(isAlive);
  // What has no ttl never ends, and neither does its pair.
  const ends = alive.map((member) => factValue(member, "ttl")?.at ?? Number.POSITIVE_INFINITY);
  return ends.length > 0 && ends.every((at) => at <= turn);
}

function isAlive(place: Place): boolean {
  return factValue(place, "archive") === null;
}

type Lowering = Partial<Pick<FactValues, "level" | "archive" | "ttl">>;

function lowering(change: Change, place: Place, turn: Turn): Lowering | ReturnType<typeof apertureError> {
  if (!isAlive(place)) return {};
  if (isPinned(place)) return apertureError("AP_CHANGE_PINNED", { block: place.block.id });
  const ttl = nextEnd(factValue(place, "ttl"), turn);
  if (isAttended(place, turn)) return { ttl };
  // The ttl stays: bringing the block back renews it.
  const next = lowered(pairLevel(place));
  if (next === "archive") return keptLevel(change, place) ?? { archive: { reason: "expired" } };
  return { level: lowest([next, factValue(place, "level")]), ttl };
}

/** The archive is the last step of the ladder: whoever chose the one before it wants the block to be seen. */
function keptLevel({ actor }: Change, place: Place): ReturnType<typeof apertureError> | null {
  const { by } = factOf(place, "level");
  const details = { block: place.block.id, fact: "level", by, actor };
  return outranks(actor, by) ? null : apertureError("AP_CHANGE_LOCKED", details);
}

/** A pair goes down the ladder as one: those that are further down wait for the rest. */
function pairLevel(place: Place): Level {
  const members = pairOf(place).filter(isAlive);
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
 * What the user selected, someone focused on or a model has just referred to waits another span: attention is
 * the opposite of expiry.
 */
function isAttended(place: Place, turn: Turn): boolean {
  const isReferred = (member: Place): boolean => {
    const { count, turn: last } = factValue(member, "reference");
    return count > 0 && turn - last < staleTurns;
  };
  return pairOf(place).some(
    (member) => isFocused(member) || factValue(member, "selection") || isReferred(member),
  );
}

function nextEnd(ttl: Ttl | null, turn: Turn): Ttl | null {
  return ttl === null ? null : { at: turnOf(turn + ttl.spanTurns), spanTurns: ttl.spanTurns };
}
