import {
  type ApertureError,
  apertureError,
  type BlockId,
  cutText,
  fail,
  limits,
  must,
  ok,
  type Result,
  sameData,
  type Turn,
  turnOf,
  unwrap,
} from "../base/index.ts";
import { type Level, levels } from "./frames/block.ts";
import type { Delta, FactDelta } from "./frames/delta.ts";
import { type Actor, type Fact, type FactName, type FactValues, outranks, type Pin } from "./frames/facts.ts";
import { focusTurnsMax, isPinned } from "./moment/lifecycle.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  type Moment,
  pairOf,
  runNow,
  streamOf,
  turnNow,
  viewBlocks,
} from "./moment/moment.ts";
import type { Stream, View } from "./state.ts";

/** The actor that wants a change, in which view and as of which moment. */
export type ChangeContext = { readonly moment: Moment; readonly view: View; readonly actor: Actor };

/** The result of a change: the deltas to append, and the blocks it skipped, each with the reason. */
export type Proposal = { readonly deltas: readonly Delta[]; readonly skipped: readonly SkippedBlock[] };
export type SkippedBlock = { readonly block: BlockId; readonly error: ApertureError };

/** A pinned block is not lowered, and a purged block is not raised: its content is gone. */
export function setBlockLevel(context: ChangeContext, blocks: readonly BlockId[], level: Level): Proposal {
  return propose(context, pairTargets(context, blocks), (blockView) => {
    const isLower = levels.indexOf(level) > levels.indexOf(factValue(blockView, "level"));
    return (isLower ? pinnedError(blockView) : purgedError(blockView)) ?? { level };
  });
}

export function pinBlocks(
  context: ChangeContext,
  blocks: readonly BlockId[],
  where: Exclude<Pin, "none">,
): Proposal {
  return propose(context, pairTargets(context, blocks), () => ({ pin: where }));
}

/** A ttl that ran out under the pin starts anew, so that unpinning is not the same as expiring. */
export function unpinBlocks(context: ChangeContext, blocks: readonly BlockId[]): Proposal {
  return propose(context, pairTargets(context, blocks), (blockView) => ({
    pin: "none",
    ...renewedTtl(blockView, context),
  }));
}

export function archiveBlocks(
  context: ChangeContext,
  blocks: readonly BlockId[],
  reason: string,
): Result<Proposal> {
  if (reason.trim() === "") return fail("AP_CHANGE_REASON");
  const why = { reason: cutText(reason, limits.reasonCharsMax) };
  return ok(
    propose(context, pairTargets(context, blocks), (blockView) => pinnedError(blockView) ?? { archive: why }),
  );
}

/** Brings archived blocks back at the level they had. */
export function restoreBlocks(context: ChangeContext, blocks: readonly BlockId[]): Proposal {
  return propose(
    context,
    pairTargets(context, blocks),
    (blockView) => purgedError(blockView) ?? { archive: null, ...renewedTtl(blockView, context) },
  );
}

export function focusBlocks(context: ChangeContext, blocks: readonly BlockId[]): Proposal {
  const stream = streamIn(context);
  const { run } = runNow(context.moment, stream);
  const until = turnOf(turnNow(context.moment, stream) + focusTurnsMax);
  return propose(context, pairTargets(context, blocks), () => ({ focus: { run, until } }));
}

/** Makes these blocks the selection and deselects all others. */
export function setSelection(context: ChangeContext, blocks: readonly BlockId[]): Proposal {
  const selected = new Set(blocks);
  const before = [...viewBlocks(context.moment, context.view)].filter(({ id }) =>
    factValue(must(blockViewOf(context.moment, context.view, id), "a block of the view"), "selection"),
  );
  const dropped = before.map(({ id }) => id).filter((id) => !selected.has(id));
  return propose(context, singleTargets(context, [...blocks, ...dropped]), ({ block }) => ({
    selection: selected.has(block.id),
  }));
}

/** Withheld content must not be sent in any body. Only the user withholds it or releases it. */
export function withholdBlocks(
  context: ChangeContext,
  blocks: readonly BlockId[],
  withheld: boolean,
): Result<Proposal> {
  if (context.actor !== "user") return fail("AP_CHANGE_WITHHOLD");
  return ok(propose(context, pairTargets(context, blocks), () => ({ withhold: withheld })));
}

export function referenceBlocks(context: ChangeContext, blocks: readonly BlockId[]): Proposal {
  const turn = turnNow(context.moment, streamIn(context));
  const counted = (blockView: BlockView) => ({ turn, count: factValue(blockView, "reference").count + 1 });
  return propose(context, singleTargets(context, blocks), (blockView) => ({ reference: counted(blockView) }));
}

/** Marks a block whose content a later block replaces: policy may lower it first. */
export function supersedeBlock(context: ChangeContext, older: BlockId, newer: BlockId): Proposal {
  const { skipped } = singleTargets(context, [newer]);
  if (skipped.length > 0) return { deltas: [], skipped };
  return propose(context, singleTargets(context, [older]), () => ({ supersession: newer }));
}

type FactUpdates = { readonly [F in FactName]?: FactValues[F] };
/** Decides for one block: new values for some of its facts, or the error that refuses the change. */
export type ChangeRule = (blockView: BlockView) => FactUpdates | ApertureError;
/** Groups of blocks that change together or not at all. */
export type ChangeTargets = {
  readonly groups: readonly (readonly BlockView[])[];
  readonly skipped: readonly SkippedBlock[];
};

/** The blocks, each grouped with the rest of its pair. */
export function pairTargets(context: ChangeContext, blocks: readonly BlockId[]): ChangeTargets {
  const { groups, skipped } = singleTargets(context, blocks);
  const pairs = groups
    .flat()
    .map((blockView) => [blockView.block.pair ?? `#${blockView.block.id}`, blockView] as const);
  return { groups: [...new Map(pairs).values()].map(pairOf), skipped };
}

/** Each block alone: being selected or referenced does not spread to the rest of a pair. */
export function singleTargets(context: ChangeContext, blocks: readonly BlockId[]): ChangeTargets {
  const candidates = [...new Set(blocks)].map((block) => ({
    block,
    blockView: lastingBlockView(context, block),
  }));
  return {
    groups: candidates.flatMap(({ blockView }) => (blockView === null ? [] : [[blockView]])),
    skipped: candidates.flatMap(({ block, blockView }) =>
      blockView === null ? [{ block, error: apertureError("AP_BLOCK_UNKNOWN", { block }) }] : [],
    ),
  };
}

/** Null for ephemeral blocks too: they end with their frame, before any change could reach them. */
function lastingBlockView({ moment, view }: ChangeContext, id: BlockId): BlockView | null {
  const blockView = blockViewOf(moment, view, id);
  return blockView?.block.ephemeral ? null : blockView;
}

/** Asks the rule about each block, and keeps the groups in which the actor may change every block. */
export function propose(context: ChangeContext, targets: ChangeTargets, rule: ChangeRule): Proposal {
  const deltas: Delta[] = [];
  const skipped = [...targets.skipped];
  for (const group of targets.groups) {
    const results = group.map((blockView) => deltasFor(context, blockView, rule(blockView)));
    const refused = results.find((result) => !result.ok);
    if (refused === undefined) deltas.push(...results.flatMap(unwrap));
    else skipped.push(...group.map(({ block }) => ({ block: block.id, error: refused.error })));
  }
  return { deltas, skipped };
}

function deltasFor(
  context: ChangeContext,
  blockView: BlockView,
  values: ReturnType<ChangeRule>,
): Result<readonly FactDelta[]> {
  if ("code" in values) return { ok: false, error: values };
  const deltas: FactDelta[] = [];
  for (const [name, value] of Object.entries(values)) {
    const fact = name as FactName;
    const from: Fact = factOf(blockView, fact);
    if (sameData(from.value, value) && outranks(from.by, context.actor)) continue;
    if (!mayChange(from, context.actor)) {
      const details = { block: blockView.block.id, fact, by: from.by, actor: context.actor };
      return fail("AP_CHANGE_LOCKED", details);
    }
    // Renewing a ttl is no decision about the block: its setter stays, so policy may still end it later.
    const to = { value, by: fact === "ttl" ? from.by : context.actor };
    deltas.push({
      type: `${fact}-set`,
      view: blockView.view.id,
      block: blockView.block.id,
      from,
      to,
    } as FactDelta);
  }
  return ok(deltas);
}

/** Only the user changes what the user set; the model beats policy; among equals the later actor wins. */
export function mayChange(fact: Fact, actor: Actor): boolean {
  return outranks(actor, fact.by);
}

function pinnedError(blockView: BlockView): ApertureError | null {
  return isPinned(blockView) ? apertureError("AP_CHANGE_PINNED", { block: blockView.block.id }) : null;
}

function purgedError(blockView: BlockView): ApertureError | null {
  const { block, moment } = blockView;
  return attributesOf(moment, block.id)?.purged
    ? apertureError("AP_BLOCK_PURGED", { block: block.id })
    : null;
}

function renewedTtl(blockView: BlockView, context: ChangeContext): { readonly ttl?: FactValues["ttl"] } {
  const ttl = factValue(blockView, "ttl");
  const turn: Turn = turnNow(context.moment, streamIn(context));
  return ttl === null || ttl.at > turn
    ? {}
    : { ttl: { at: turnOf(turn + ttl.spanTurns), spanTurns: ttl.spanTurns } };
}

function streamIn(context: ChangeContext): Stream {
  return must(streamOf(context.moment, context.view.stream), "a view has a stream");
}
