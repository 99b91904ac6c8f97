import { must, type UnitId } from "../../base/index.ts";
import type { AddedBlock, RecordedExchange, Shown, UnitOrigin } from "../../engine/frames/index.ts";
import type { SentTurn, SentUnit, View } from "../../engine/index.ts";
import { descendsFrom, type Moment } from "../../engine/moment/index.ts";
import type { BodyUnit } from "./body-units.ts";

/** The log's facts about a unit that was sent. */
export type SentFacts = {
  /** Null if the log does not know the unit, because it was sent only once. */
  readonly origin: UnitOrigin | null;
  /** Recognises the client's copy of it. */
  readonly key: string | null;
  /** The block it shows; `as` is the shown form. */
  readonly block: AddedBlock | null;
  readonly as: Shown;
  /** The frame it was first sent with. */
  readonly seq: number | null;
};

export const unknownFacts: SentFacts = { origin: null, key: null, block: null, as: "original", seq: null };

/** The turn an exchange sent, and its view. */
export type ExchangeTurn = { readonly view: View; readonly sent: SentTurn };

export function exchangeTurn({ state, seq }: Moment, exchange: number): ExchangeTurn | null {
  for (const [, view] of state.views.entries()) {
    for (let at = view.sent.size - 1; at >= 0; at -= 1) {
      const sent = must(view.sent.get(at), "sent turns have no gaps");
      if (sent.exchange === exchange && sent.seq <= seq) return { view, sent };
    }
  }
  return null;
}

/**
 * Finds the facts of each unit of a sent body along its path through the ledger. Counts and side requests
 * have no path, and some units are on none: those are found by their bytes.
 */
export function sentFacts(
  moment: Moment,
  exchange: RecordedExchange,
  units: readonly BodyUnit[],
): readonly SentFacts[] {
  const path = turnPath(moment, exchangeTurn(moment, exchange.id));
  let next = 0;
  const unitsOnPath = units.map(({ unit }) => {
    const sent = path[next];
    if (sent?.bytes !== unit.hash) return null;
    next += 1;
    return sent;
  });
  const missing = new Set(units.filter((_, at) => unitsOnPath[at] === null).map(({ unit }) => unit.hash));
  const byBytes = missing.size === 0 ? null : unitsByBytes(moment, exchange, missing);
  return units.map(({ unit }, at) => factsOf(moment, unitsOnPath[at] ?? byBytes?.get(unit.hash) ?? null));
}

function turnPath({ state }: Moment, turn: ExchangeTurn | null): readonly SentUnit[] {
  const path: SentUnit[] = [];
  for (let id: UnitId | null = turn?.sent.leaf ?? null; id !== null; ) {
    const unit: SentUnit = must(state.units.get(id), "a path is made of sent units");
    path.push(unit);
    id = unit.parent;
  }
  return path.reverse();
}

/** Units of the stream or its parents; the newest of several with the same bytes. */
function unitsByBytes(
  moment: Moment,
  { stream, openedSeq }: RecordedExchange,
  hashes: ReadonlySet<string>,
): ReadonlyMap<string, SentUnit> {
  const units = new Map<string, SentUnit>();
  for (const [, unit] of moment.state.units.entries()) {
    if (unit.sentSeq > openedSeq || !hashes.has(unit.bytes)) continue;
    if (stream === null || descendsFrom(moment, stream, unit.stream)) units.set(unit.bytes, unit);
  }
  return units;
}

function factsOf({ state }: Moment, sent: SentUnit | null): SentFacts {
  if (sent === null) return unknownFacts;
  const [shown] = sent.shows;
  const block = shown === undefined ? null : (state.blocks.get(shown.block)?.block ?? null);
  const { origin, anchor: key, sentSeq: seq } = sent;
  return { origin, key, block, as: shown?.as ?? "original", seq };
}
