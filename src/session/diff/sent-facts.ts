import { must, type UnitId } from "../../base/index.ts";
import {
  type AddedBlock,
  descendsFrom,
  type Moment,
  type Origin,
  type RecordedExchange,
  type SentTurn,
  type SentUnit,
  type Shown,
  type View,
} from "../../engine/index.ts";
import type { BodyUnit } from "./body-units.ts";

/** What the log says of a unit that was sent. */
export type SentFacts = {
  /** Null: the log does not know it, because it was sent once and then forgotten. */
  readonly origin: Origin | null;
  /** By which a client's copy of it is known. */
  readonly key: string | null;
  /** The block it shows, and how much of it. */
  readonly block: AddedBlock | null;
  readonly as: Shown;
  /** The frame it was first sent with. */
  readonly seq: number | null;
};

export const unknownFacts: SentFacts = { origin: null, key: null, block: null, as: "original", seq: null };

/** The turn that went with an exchange, and whose it was. */
export type TurnOf = { readonly view: View; readonly sent: SentTurn };

export function turnOfExchange({ state, seq }: Moment, exchange: number): TurnOf | null {
  for (const [, view] of state.views.entries()) {
    for (let at = view.sent.size - 1; at >= 0; at -= 1) {
      const sent = must(view.sent.get(at), "sent turns have no gaps");
      if (sent.exchange === exchange && sent.seq <= seq) return { view, sent };
    }
  }
  return null;
}

/**
 * What the log says of each unit of a body that went upstream: by its path through the ledger, in order. A
 * count, or what was sent beside a stream, has no path; and some units stand on none. Those are known by
 * their bytes.
 */
export function sentFacts(
  moment: Moment,
  exchange: RecordedExchange,
  units: readonly BodyUnit[],
): readonly SentFacts[] {
  const path = pathOfTurn(moment, turnOfExchange(moment, exchange.id));
  let next = 0;
  const found = units.map(({ unit }) => {
    const sent = path[next];
    if (sent?.bytes !== unit.hash) return null;
    next += 1;
    return sent;
  });
  const missing = new Set(units.filter((_, at) => found[at] === null).map(({ unit }) => unit.hash));
  const known = missing.size === 0 ? null : unitsByBytes(moment, exchange, missing);
  return units.map(({ unit }, at) => factsOf(moment, found[at] ?? known?.get(unit.hash) ?? null));
}

function pathOfTurn({ state }: Moment, turn: TurnOf | null): readonly SentUnit[] {
  const path: SentUnit[] = [];
  for (let id: UnitId | null = turn?.sent.leaf ?? null; id !== null; ) {
    const unit: SentUnit = must(state.units.get(id), "a path is made of sent units");
    path.push(unit);
    id = unit.parent;
  }
  return path.reverse();
}

/** Of the stream or of those it was forked from; of several with the same bytes the newest. */
function unitsByBytes(
  moment: Moment,
  { stream, openedSeq }: RecordedExchange,
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, SentUnit> {
  const found = new Map<string, SentUnit>();
  for (const [, unit] of moment.state.units.entries()) {
    if (unit.sentSeq > openedSeq || !wanted.has(unit.bytes)) continue;
    if (stream === null || descendsFrom(moment, stream, unit.stream)) found.set(unit.bytes, unit);
  }
  return found;
}

function factsOf({ state }: Moment, sent: SentUnit | null): SentFacts {
  if (sent === null) return unknownFacts;
  const [shown] = sent.shows;
  const block = shown === undefined ? null : (state.blocks.get(shown.block)?.block ?? null);
  const { origin, anchor: key, sentSeq: seq } = sent;
  return { origin, key, block, as: shown?.as ?? "original", seq };
}
