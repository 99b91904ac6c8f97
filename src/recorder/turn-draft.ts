import { type BlockId, must, type UnitId } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { epochNow, now, runNow, streamOf } from "../engine/moment/index.ts";
import type { SentRequest } from "../exchange/index.ts";
import type { WireRequest } from "../protocols/index.ts";
import type { DeltaDraft, FreshUnit, UnitNumbers } from "./delta-draft.ts";
import type { StreamIndex } from "./stream-index.ts";
import { alignUnits, type PlacedUnit, sharedUnits } from "./unit-alignment.ts";

/** A turn that is not appended yet. */
export type TurnDraft = {
  /** Its last unit; null if it has none. */
  readonly leaf: UnitId | null;
  /** One unit per wire unit; empty if the ledger sent other units. */
  readonly path: readonly UnitId[];
  /** One block per wire unit; empty if there is a path. */
  readonly blocks: readonly BlockId[];
  /** The client's units that no earlier request had. */
  readonly fresh: readonly FreshUnit[];
  readonly epoch: readonly Delta[];
};

export type TurnDraftDeps = {
  readonly draft: DeltaDraft;
  readonly index: StreamIndex;
  readonly state: State;
};

/**
 * Drafts a turn from the ledger's report. Without a report, or if the report refers to units of a lost
 * record, it drafts the client's own path.
 */
export function draftTurn(deps: TurnDraftDeps, request: WireRequest, sent: SentRequest | null): TurnDraft {
  const { draft, index } = deps;
  if (sent !== null && isRooted(index, sent)) return draftSent(deps, request, sent);
  const alignment = alignUnits(index, request);
  const path = draft.addRequest(alignment, request, unitNumbersOf(sent));
  return { leaf: path.at(-1) ?? null, path, blocks: [], fresh: withoutBlocks(alignment.fresh), epoch: [] };
}

function withoutBlocks(placed: readonly PlacedUnit[]): readonly FreshUnit[] {
  return placed.map((one) => ({ ...one, block: null }));
}

function draftSent(
  { draft, index, state }: TurnDraftDeps,
  request: WireRequest,
  sent: SentRequest,
): TurnDraft {
  const epoch = epochDeltas(state, index, sent);
  const { last } = index;
  const known = last?.blocks.slice(0, sharedUnits(request, last.request)) ?? [];
  const { blocks, fresh } = draft.addBlocks(request, { known, numbers: unitNumbersOf(sent) });
  const leaf = draft.addSentUnits(sent.fresh, blocks)(sent.leaf);
  return { leaf, path: [], blocks, fresh, epoch };
}

function unitNumbersOf(sent: SentRequest | null): UnitNumbers {
  const entries = [...(sent?.aliases ?? []), ...(sent?.fresh ?? [])].flatMap(({ clientIndex, numbered }) =>
    clientIndex === null || numbered === null ? [] : [[clientIndex, numbered] as const],
  );
  return new Map(entries);
}

/** True if every unit of the report has a known parent. */
function isRooted(index: StreamIndex, { fresh, leaf, epoch }: SentRequest): boolean {
  const sentNodes = new Set<string>();
  const isKnown = (node: string): boolean => sentNodes.has(node) || index.unitAtNode(node) !== null;
  if (epoch !== null && epoch.cut !== null && !isKnown(epoch.cut)) return false;
  for (const { id, parent } of fresh) {
    if (parent !== null && !isKnown(parent)) return false;
    sentNodes.add(id);
  }
  return isKnown(leaf);
}

export function epochDeltas(
  state: State,
  index: StreamIndex,
  { epoch }: Pick<SentRequest, "epoch">,
): readonly Delta[] {
  if (epoch === null) return [];
  const { cut, reason, means, predicted } = epoch;
  const unit =
    cut === null ? null : must(index.unitAtNode(cut), "a cut that is not known was refused before");
  const view = must(state.views.get(index.view), "an index belongs to a view");
  const next = epochNow(now(state), view) + 1;
  const started = { type: "epoch-started", view: view.id, epoch: next, cut: unit, reason, means } as const;
  return [predicted === null ? started : { ...started, predicted }];
}

/** A user message starts a run; tool results continue the current one. */
export function runDeltas(state: State, index: StreamIndex, fresh: readonly PlacedUnit[]): readonly Delta[] {
  if (!fresh.some(({ unit }) => unit.kind === "user")) return [];
  const stream = must(streamOf(now(state), index.stream), "a line has a stream");
  const { run } = runNow(now(state), stream);
  return [{ type: "run-started", stream: stream.id, from: run, to: run + 1 }];
}
