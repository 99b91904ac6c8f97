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
import { type Level, levels } from "./block.ts";
import type { Delta, FactDelta } from "./delta.ts";
import { type Actor, type Fact, type FactName, type FactValues, outranks, type Pin } from "./facts.ts";
import { focusTurnsMax, isPinned } from "./lifecycle.ts";
import {
  blocksOf,
  factOf,
  factValue,
  type Moment,
  notesOf,
  type Place,
  pairOf,
  placeOf,
  runNow,
  streamOf,
  turnNow,
} from "./moment.ts";
import type { Stream, View } from "./state.ts";

/** Who wants to change what, and from where they look. */
export type Change = { readonly moment: Moment; readonly view: View; readonly actor: Actor };

/** What a change comes to: the deltas to append, and the blocks it left alone, each with the reason. */
export type Proposal = { readonly deltas: readonly Delta[]; readonly skipped: readonly Skipped[] };
export type Skipped = { readonly block: BlockId; readonly error: ApertureError };

/** A pin protects from being lowered; nothing brings back what was purged. */
export function wantLevel(change: Change, blocks: readonly BlockId[], level: Level): Proposal {
  return propose(change, withPairs(change, blocks), (place) => {
    const lowers = levels.indexOf(level) > levels.indexOf(factValue(place, "level"));
    return (lowers ? pinned(place) : purged(place)) ?? { level };
  });
}

export function pin(change: Change, blocks: readonly BlockId[], where: Exclude<Pin, "none">): Proposal {
  return propose(change, withPairs(change, blocks), () => ({ pin: where }));
}

/** A ttl that ran out under the pin starts anew, so that unpinning is not the same as expiring. */
export function unpin(change: Change, blocks: readonly BlockId[]): Proposal {
  return propose(change, withPairs(change, blocks), (place) => ({
    pin: "none",
    ...renewedTtl(place, change),
  }));
}

export function archive(change: Change, blocks: readonly BlockId[], reason: string): Result<Proposal> {
  if (reason.trim() === "") return fail("AP_CHANGE_REASON");
  const why = { reason: cutText(reason, limits.reasonCharsMax) };
  return ok(propose(change, withPairs(change, blocks), (place) => pinned(place) ?? { archive: why }));
}

/** Brings blocks back from the cold, at the level they had. */
export function restore(change: Change, blocks: readonly BlockId[]): Proposal {
  return propose(
    change,
    withPairs(change, blocks),
    (place) => purged(place) ?? { archive: null, ...renewedTtl(place, change) },
  );
}

export function focus(change: Change, blocks: readonly BlockId[]): Proposal {
  const stream = streamIn(change);
  const { run } = runNow(change.moment, stream);
  const until = turnOf(turnNow(change.moment, stream) + focusTurnsMax);
  return propose(change, withPairs(change, blocks), () => ({ focus: { run, until } }));
}

/** The selection becomes exactly these blocks. */
export function select(change: Change, blocks: readonly BlockId[]): Proposal {
  const chosen = new Set(blocks);
  const before = [...blocksOf(change.moment, change.view)].filter(({ id }) =>
    factValue(must(placeOf(change.moment, change.view, id), "a block of the view"), "selection"),
  );
  const dropped = before.map(({ id }) => id).filter((id) => !chosen.has(id));
  return propose(change, alone(change, [...blocks, ...dropped]), ({ block }) => ({
    selection: chosen.has(block.id),
  }));
}

/**
 * What is withheld must not be sent any more, in no body. Only the user's word does that, or takes it back.
 */
export function withhold(change: Change, blocks: readonly BlockId[], withheld: boolean): Result<Proposal> {
  if (change.actor !== "user") return fail("AP_CHANGE_WITHHOLD");
  return ok(propose(change, withPairs(change, blocks), () => ({ withhold: withheld })));
}

export function reference(change: Change, blocks: readonly BlockId[]): Proposal {
  const turn = turnNow(change.moment, streamIn(change));
  const counted = (place: Place) => ({ turn, count: factValue(place, "reference").count + 1 });
  return propose(change, alone(change, blocks), (place) => ({ reference: counted(place) }));
}

/** A later block says the same and more: the earlier is marked, and policy may lower it first. */
export function supersede(change: Change, older: BlockId, newer: BlockId): Proposal {
  const { skipped } = alone(change, [newer]);
  if (skipped.length > 0) return { deltas: [], skipped };
  return propose(change, alone(change, [older]), () => ({ supersession: newer }));
}

type Values = { readonly [F in FactName]?: FactValues[F] };
/** What a change would do to one block: new values for some facts, or why not. */
export type Rule = (place: Place) => Values | ApertureError;
/** Blocks that change together or not at all. */
export type Targets = {
  readonly groups: readonly (readonly Place[])[];
  readonly skipped: readonly Skipped[];
};

/** The blocks and all that live and change with them. */
export function withPairs(change: Change, blocks: readonly BlockId[]): Targets {
  const { groups, skipped } = alone(change, blocks);
  const pairs = groups.flat().map((place) => [place.block.pair ?? `#${place.block.id}`, place] as const);
  return { groups: [...new Map(pairs).values()].map(pairOf), skipped };
}

/** The blocks themselves: being selected or referred to does not spread to the rest of a pair. */
export function alone(change: Change, blocks: readonly BlockId[]): Targets {
  const found = [...new Set(blocks)].map((block) => ({ block, place: lastingPlace(change, block) }));
  return {
    groups: found.flatMap(({ place }) => (place === null ? [] : [[place]])),
    skipped: found.flatMap(({ block, place }) =>
      place === null ? [{ block, error: apertureError("AP_BLOCK_UNKNOWN", { block }) }] : [],
    ),
  };
}

/** What ends with its frame is gone before any change of it could come. */
function lastingPlace({ moment, view }: Change, id: BlockId): Place | null {
  const place = placeOf(moment, view, id);
  return place?.block.ephemeral ? null : place;
}

/**
 * The shape of every change: ask the rule for each block, and keep the groups that the actor may change
 * whole.
 */
export function propose(change: Change, targets: Targets, rule: Rule): Proposal {
  const deltas: Delta[] = [];
  const skipped = [...targets.skipped];
  for (const group of targets.groups) {
    const made = group.map((place) => deltasFor(change, place, rule(place)));
    const refused = made.find((result) => !result.ok);
    if (refused === undefined) deltas.push(...made.flatMap(unwrap));
    else skipped.push(...group.map(({ block }) => ({ block: block.id, error: refused.error })));
  }
  return { deltas, skipped };
}

function deltasFor(change: Change, place: Place, values: ReturnType<Rule>): Result<readonly FactDelta[]> {
  if ("code" in values) return { ok: false, error: values };
  const deltas: FactDelta[] = [];
  for (const [name, value] of Object.entries(values)) {
    const fact = name as FactName;
    const from: Fact = factOf(place, fact);
    if (sameData(from.value, value) && outranks(from.by, change.actor)) continue;
    if (!mayChange(from, change.actor)) {
      const details = { block: place.block.id, fact, by: from.by, actor: change.actor };
      return fail("AP_CHANGE_LOCKED", details);
    }
    // A ttl that goes on is nobody's decision: whoever renews it does not keep policy from ending it later.
    const to = { value, by: fact === "ttl" ? from.by : change.actor };
    deltas.push({ type: `${fact}-set`, view: place.view.id, block: place.block.id, from, to } as FactDelta);
  }
  return ok(deltas);
}

/** What the user set only the user changes; the model beats policy; among equals the later wins. */
export function mayChange(fact: Fact, actor: Actor): boolean {
  return outranks(actor, fact.by);
}

function pinned(place: Place): ApertureError | null {
  return isPinned(place) ? apertureError("AP_CHANGE_PINNED", { block: place.block.id }) : null;
}

function purged(place: Place): ApertureError | null {
  const { block, moment } = place;
  return notesOf(moment, block.id)?.purged ? apertureError("AP_BLOCK_PURGED", { block: block.id }) : null;
}

function renewedTtl(place: Place, change: Change): { readonly ttl?: FactValues["ttl"] } {
  const ttl = factValue(place, "ttl");
  const turn: Turn = turnNow(change.moment, streamIn(change));
  return ttl === null || ttl.at > turn
    ? {}
    : { ttl: { at: turnOf(turn + ttl.spanTurns), spanTurns: ttl.spanTurns } };
}

function streamIn(change: Change): Stream {
  return must(streamOf(change.moment, change.view.stream), "a view has a stream");
}
