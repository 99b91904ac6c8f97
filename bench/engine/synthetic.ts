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
import type { Block, Delta, Frame } from "../../src/engine/frames/index.ts";
import { changes, emptyState, type Proposal, reduce, type State, type View } from "../../src/engine/index.ts";
import {
  blockViewOf,
  lifecycleOf,
  momentAt,
  now,
  shownOf,
  streamOf,
  turnNow,
  viewBlocks,
  zoneOf,
} from "../../src/engine/moment/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { factsOf } from "../../test/support/facts-of.ts";
import { sealed } from "../../test/support/random-session.ts";

const stream = streamId(1);
const view = viewId(1);
export const session = sessionId("synthetic");

export type SessionShape = { readonly frames: number; readonly blocks: "growing" | number };

/** The entries of a session of that shape; each is made from the state it is appended to. */
export function* entries(shape: SessionShape): Generator<(state: State) => FrameEntry> {
  const random = seededRandom(7);
  const first = shape.blocks === "growing" ? 1 : shape.blocks;
  yield () => frameOf("session", [...openingDeltas(shape), ...blockDeltas(1, first)]);
  for (let seq = 2; seq <= shape.frames; seq += 1) {
    const growing = shape.blocks === "growing" ? blockDeltas(seq, seq) : [];
    yield (state) => nextEntry(state, random, growing);
  }
}

export function build(shape: SessionShape): { readonly state: State; readonly frames: readonly Frame[] } {
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
 * A frame with a sent turn, references to two blocks, a new level of one, and a new block if the session
 * grows.
 */
function nextEntry(state: State, random: Random, growing: readonly Delta[]): FrameEntry {
  const moment = now(state);
  const seen = state.views.get(view) as View;
  const count = state.streams.get(stream)?.blocks.size ?? 1;
  const pick = (): BlockId => blockId(1 + random.below(count));
  const change = { moment, view: seen, actor: "policy" } as const;
  const proposals: readonly Proposal[] = [
    changes.reference(change, [...new Set([pick(), pick()])]),
    changes.setLevel(change, [pick()], random.pick(["original", "trimmed", "minimal"] as const)),
  ];
  return frameOf("request", [
    ...growing,
    ...proposals.flatMap(({ deltas }) => deltas),
    ...turnDeltas(state, pick()),
  ]);
}

function turnDeltas(state: State, shown: BlockId): readonly Delta[] {
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

function openingDeltas(shape: SessionShape): readonly Delta[] {
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

function blockDeltas(from: number, to: number): readonly Delta[] {
  return Array.from(
    { length: to - from + 1 },
    (_, index): Delta => ({ type: "block-added", block: blockOf(from + index) }),
  );
}

function blockOf(n: number): Block {
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

function frameOf(type: "session" | "request", deltas: readonly Delta[]): FrameEntry {
  return { stream, actor: "policy", cause: { type, step: null, reason: "" }, deltas };
}

/** Reads all facts about some blocks as of a seq, as a panel or a renderer would. */
export function readAt(state: State, seq: number, blocks: Iterable<number>): number {
  const moment = unwrap(momentAt(state, seq));
  const seen = state.views.get(view) as View;
  let sum = 0;
  for (const n of blocks) {
    const blockView = blockViewOf(moment, seen, blockId(n));
    if (blockView === null) continue;
    const facts = factsOf(blockView);
    sum += facts.reference.value.count + shownOf(moment, seen, blockView.block.id).length;
    sum += zoneOf(blockView).length + lifecycleOf(blockView).length;
  }
  return sum;
}

/** Reads all facts about every block as of a seq. */
export function listAt(state: State, seq: number): number {
  const moment = unwrap(momentAt(state, seq));
  const seen = state.views.get(view) as View;
  return readAt(
    state,
    seq,
    [...viewBlocks(moment, seen)].map(({ id }) => id),
  );
}
