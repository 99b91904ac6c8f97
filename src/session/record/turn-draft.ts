import { type BlockId, must, type UnitId } from "../../base/index.ts";
import { type Delta, epochNow, now, runNow, type State, streamOf } from "../../engine/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { SentReport } from "../exchange.ts";
import { align, type PlacedUnit, sharedUnits } from "./align.ts";
import type { Draft, FreshUnit, Numbers } from "./draft.ts";
import type { StreamIndex } from "./stream-index.ts";

/** A turn, put together and not yet appended. */
export type DraftedTurn = {
  /** The last unit of it; null where it has none at all. */
  readonly leaf: UnitId | null;
  /** One unit per wire unit; empty where the ledger sent others. */
  readonly path: readonly UnitId[];
  /** One block per wire unit; empty where there is a path. */
  readonly blocks: readonly BlockId[];
  /** What the client had not said before. */
  readonly fresh: readonly FreshUnit[];
  readonly epoch: readonly Delta[];
};

export type TurnPlace = {
  readonly draft: Draft;
  readonly index: StreamIndex;
  readonly state: State;
};

/**
 * As the ledger reported it; where it went up as it came, or where the report hangs in the air because an
 * earlier one was lost, as the client's own path.
 */
export function draftTurn(place: TurnPlace, request: WireRequest, sent: SentReport | null): DraftedTurn {
  const { draft, index } = place;
  if (sent !== null && isRooted(index, sent)) return draftSent(place, request, sent);
  const alignment = align(index, request);
  const path = draft.request(alignment, request, numbersIn(sent));
  return { leaf: path.at(-1) ?? null, path, blocks: [], fresh: nameless(alignment.fresh), epoch: [] };
}

function nameless(placed: readonly PlacedUnit[]): readonly FreshUnit[] {
  return placed.map((one) => ({ ...one, block: null }));
}

function draftSent({ draft, index, state }: TurnPlace, request: WireRequest, sent: SentReport): DraftedTurn {
  const epoch = epochOf(state, index, sent);
  const { last } = index;
  const known = last?.blocks.slice(0, sharedUnits(request, last.request)) ?? [];
  const { blocks, fresh } = draft.blocks(request, { known, numbered: numbersIn(sent) });
  const leaf = draft.sent(sent.fresh, blocks)(sent.leaf);
  return { leaf, path: [], blocks, fresh, epoch };
}

function numbersIn(sent: SentReport | null): Numbers {
  const told = [...(sent?.copies ?? []), ...(sent?.fresh ?? [])].flatMap(({ unit, numbered }) =>
    unit === null || numbered === null ? [] : [[unit, numbered] as const],
  );
  return new Map(told);
}

/** Whether every unit of the report hangs below one we know of. */
function isRooted(index: StreamIndex, { fresh, leaf, epoch }: SentReport): boolean {
  const told = new Set<string>();
  const isKnown = (place: string): boolean => told.has(place) || index.unitAt(place) !== null;
  if (epoch !== null && epoch.cut !== null && !isKnown(epoch.cut)) return false;
  for (const { id, parent } of fresh) {
    if (parent !== null && !isKnown(parent)) return false;
    told.add(id);
  }
  return isKnown(leaf);
}

function epochOf(state: State, index: StreamIndex, { epoch }: SentReport): readonly Delta[] {
  if (epoch === null) return [];
  const { cut, reason, means, predicted } = epoch;
  const unit = cut === null ? null : must(index.unitAt(cut), "a cut that is not known was refused before");
  const view = must(state.views.get(index.view), "an index belongs to a view");
  const next = epochNow(now(state), view) + 1;
  const begun = { type: "epoch-started", view: view.id, epoch: next, cut: unit, reason, means } as const;
  return [predicted === null ? begun : { ...begun, predicted }];
}

/** A user message begins a run; tool results go on with the one there is. */
export function runStarted(state: State, index: StreamIndex, fresh: readonly PlacedUnit[]): readonly Delta[] {
  if (!fresh.some(({ unit }) => unit.kind === "user")) return [];
  const stream = must(streamOf(now(state), index.stream), "a line has a stream");
  const { run } = runNow(now(state), stream);
  return [{ type: "run-started", stream: stream.id, from: run, to: run + 1 }];
}
