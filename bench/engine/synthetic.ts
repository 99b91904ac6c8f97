import {
  type BlockId,
  blockId,
  hashContent,
  messageId,
  type Random,
  seededRandom,
  sessionId,
  streamId,
  turnOf,
  type UnitId,
  unwrap,
  viewId,
} from "../../src/base/index.ts";
import {
  type Block,
  blocksOf,
  type Delta,
  emptyState,
  type Frame,
  factsOf,
  lifecycleOf,
  now,
  type Proposal,
  placeOf,
  reduce,
  reference,
  type State,
  shownOf,
  stateAt,
  streamOf,
  turnNow,
  type View,
  wantLevel,
  zoneOf,
} from "../../src/engine/index.ts";
import type { Entry } from "../../src/session/index.ts";
import { sealed } from "../../test/support/random-session.ts";

const stream = streamId(1);
const view = viewId(1);
export const session = sessionId("synthetic");

export type Shape = { readonly frames: number; readonly blocks: "growing" | number };

/** Entries of a session of that shape, one at a time, each read against the state it is appended to. */
export function* entries(shape: Shape): Generator<(state: State) => Entry> {
  const random = seededRandom(7);
  const first = shape.blocks === "growing" ? 1 : shape.blocks;
  yield () => frameOf("session", [...opened(shape), ...added(1, first)]);
  for (let seq = 2; seq <= shape.frames; seq += 1) {
    const growing = shape.blocks === "growing" ? added(seq, seq) : [];
    yield (state) => nextEntry(state, random, growing);
  }
}

export function build(shape: Shape): { readonly state: State; readonly frames: readonly Frame[] } {
  let state = emptyState(session);
  const frames: Frame[] = [];
  for (const entry of entries(shape)) {
    const frame = sealed(state, entry(state));
    state = unwrap(reduce(state, frame));
    frames.push(frame);
  }
  return { state, frames };
}

/**
 * A turn is sent, two blocks are referred to, one is wanted at another level; and, if growing, one block is
 * new.
 */
function nextEntry(state: State, random: Random, growing: readonly Delta[]): Entry {
  const moment = now(state);
  const seen = state.views.get(view) as View;
  const count = state.streams.get(stream)?.blocks.size ?? 1;
  const pick = (): BlockId => blockId(1 + random.below(count));
  const change = { moment, view: seen, actor: "policy" } as const;
  const proposals: readonly Proposal[] = [
    reference(change, [...new Set([pick(), pick()])]),
    wantLevel(change, [pick()], random.pick(["original", "trimmed", "minimal"] as const)),
  ];
  return frameOf("request", [
    ...growing,
    ...proposals.flatMap(({ deltas }) => deltas),
    ...sent(state, pick()),
  ]);
}

function sent(state: State, shown: BlockId): readonly Delta[] {
  const id = state.units.size as UnitId;
  const parent = id === 0 ? null : ((id - 1) as UnitId);
  const turn = turnOf(turnNow(now(state), streamOf(now(state), stream) as never) + 1);
  const bytes = hashContent(`unit ${id}`);
  const unit = { id, stream, parent, message: null, origin: "client", anchor: `u${id}`, bytes } as const;
  return [
    { type: "unit-sent", unit: { ...unit, shows: [{ block: shown, as: "original" }] } },
    { type: "turn-sent", view, turn, leaf: id, exchange: turn },
  ];
}

function opened(shape: Shape): readonly Delta[] {
  const idsMax = shape.blocks === "growing" ? shape.frames : shape.blocks;
  const reserved = Array.from({ length: Math.ceil(idsMax / 1_000) }, (_, index) =>
    (["block", "message"] as const).map(
      (of): Delta => ({
        type: "ids-reserved",
        stream,
        of,
        from: index * 1_000 + 1,
        to: (index + 1) * 1_000 + 1,
      }),
    ),
  );
  return [
    { type: "stream-opened", stream, name: "main", parent: null },
    { type: "view-opened", view, stream, agent: "model", parent: null },
    ...reserved.flat(),
  ];
}

function added(from: number, to: number): readonly Delta[] {
  return Array.from(
    { length: to - from + 1 },
    (_, index): Delta => ({ type: "block-added", block: aBlock(from + index) }),
  );
}

function aBlock(n: number): Block {
  return {
    id: blockId(n),
    kind: n % 3 === 0 ? "tool-result" : "assistant",
    stream,
    message: messageId(n),
    turn: turnOf(n),
    speaker: "model",
    content: hashContent(`content ${n}`),
    anchor: `a${n}`,
    pair: null,
    taint: "model",
    supersedes: null,
    ttl: null,
  };
}

function frameOf(type: "session" | "request", deltas: readonly Delta[]): Entry {
  return { stream, actor: "policy", cause: { type, step: null, reason: "" }, deltas };
}

/** Reads the state as of a seq as a panel or a renderer would: everything about some of its blocks. */
export function readAt(state: State, seq: number, blocks: Iterable<number>): number {
  const moment = unwrap(stateAt(state, seq));
  const seen = state.views.get(view) as View;
  let sum = 0;
  for (const n of blocks) {
    const place = placeOf(moment, seen, blockId(n));
    if (place === null) continue;
    const facts = factsOf(place);
    sum += facts.reference.value.count + shownOf(moment, seen, place.block.id).length;
    sum += zoneOf(place).length + lifecycleOf(place).length;
  }
  return sum;
}

/** Everything about every block there was at a seq. */
export function listAt(state: State, seq: number): number {
  const moment = unwrap(stateAt(state, seq));
  const seen = state.views.get(view) as View;
  return readAt(
    state,
    seq,
    [...blocksOf(moment, seen)].map(({ id }) => id),
  );
}
