import { type BlockId, fail, limits, must, ok, type Result, sameData, seqOf } from "../base/index.ts";
import type { AddedBlock, Block, BlockNotes } from "./block.ts";
import type { BlockDelta } from "./delta.ts";
import { blockOf, notesOf, now, streamOf } from "./moment.ts";
import type { Paged } from "./paged.ts";
import type { Group, IdRange, State, Stream } from "./state.ts";
import { type Versions, withVersion } from "./versions.ts";

type Change<T extends BlockDelta["type"]> = Extract<BlockDelta, { type: T }>;

/** Most blocks never get other notes, so they share these. */
const firstNotes: BlockNotes = {
  present: true,
  purged: false,
  tokens: null,
  topics: [],
  scope: "session",
  renditions: {},
};

export function addBlock(state: State, block: Block): Result<State> {
  const stream = streamOf(now(state), block.stream);
  if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: block.stream });
  const known = state.blocks.get(block.id);
  if (known !== undefined) return addAgain(state, block);
  const refused = checkBlock(state, block, stream);
  if (refused !== null) return refused;
  return ok({
    ...state,
    blocks: state.blocks.with(block.id, {
      block: addedBlock(block, state.seq),
      notes: notesFrom(block, state.seq),
    }),
    messages: grouped(state.messages, block.message, block.id),
    pairs: block.pair === null ? state.pairs : grouped(state.pairs, block.pair, block.id),
    streams: state.streams.with(stream.id, {
      ...stream,
      blocks: stream.blocks.push(block.id),
      due: block.ttl === null ? stream.due : grouped(stream.due, block.ttl.at, block.id),
    }),
  });
}

/** What ends with its frame has its end from the beginning, so nobody has to sweep, live or in replay. */
function notesFrom({ ephemeral }: Block, seq: State["seq"]): Versions<BlockNotes> {
  const first = withVersion(null, seq, firstNotes);
  return ephemeral ? withVersion(first, seqOf(seq + 1), { ...firstNotes, present: false }) : first;
}

/** Field by field: spreading a block and adding to it takes a hundred times as long. */
function addedBlock(block: Block, addedSeq: State["seq"]): AddedBlock {
  const { id, kind, stream, message, turn, speaker, content, anchor, pair, taint, supersedes, ttl } = block;
  const { ephemeral, during } = block;
  const added = {
    id,
    kind,
    stream,
    message,
    turn,
    speaker,
    content,
    anchor,
    pair,
    taint,
    supersedes,
    ttl,
    addedSeq,
  };
  if (ephemeral === undefined && during === undefined) return added;
  return { ...added, ...(ephemeral && { ephemeral }), ...(during !== undefined && { during }) };
}

/** Redo of a creation brings back the very same block; any other block of that id is a second use of it. */
function addAgain(state: State, block: Block): Result<State> {
  const { addedSeq: _, ...known } = must(state.blocks.get(block.id), "the block is known").block;
  const notes = must(notesOf(now(state), block.id), "a known block has notes");
  if (notes.present || block.ephemeral || !sameData(known, block))
    return fail("AP_BLOCK_EXISTS", { block: block.id });
  return withNotes(state, block.id, { present: true });
}

export function removeBlock(state: State, block: Block): Result<State> {
  const present = blockOf(now(state), block.id);
  if (present === null) return fail("AP_BLOCK_UNKNOWN", { block: block.id });
  const { addedSeq: _, ...known } = present;
  if (!sameData(known, block)) return fail("AP_DELTA_STALE", { type: "block-removed", block: block.id });
  return withNotes(state, block.id, { present: false });
}

export function purgeBlock(state: State, id: BlockId): Result<State> {
  return withNotes(state, id, { purged: true });
}

export function countTokens(state: State, delta: Change<"tokens-counted">): Result<State> {
  if (notesOf(now(state), delta.block)?.tokens) return fail("AP_TOKENS_FROZEN", { block: delta.block });
  return withNotes(state, delta.block, { tokens: delta.tokens });
}

export function setTopics(state: State, delta: Change<"topics-set">): Result<State> {
  const { type, block, from, to } = delta;
  const notes = notesOf(now(state), block);
  if (notes !== null && !sameData(notes.topics, from)) return fail("AP_DELTA_STALE", { type, block });
  return withNotes(state, block, { topics: to });
}

export function setScope(state: State, delta: Change<"scope-set">): Result<State> {
  const { type, block, from, to } = delta;
  const notes = notesOf(now(state), block);
  if (notes !== null && notes.scope !== from) return fail("AP_DELTA_STALE", { type, block });
  return withNotes(state, block, { scope: to });
}

export function setRendition(state: State, delta: Change<"rendition-set">): Result<State> {
  const { type, block, level, from, to } = delta;
  const notes = notesOf(now(state), block);
  if (notes === null) return fail("AP_BLOCK_UNKNOWN", { block });
  const { renditions } = notes;
  if (!sameData(renditions[level] ?? null, from)) return fail("AP_DELTA_STALE", { type, block });
  const { [level]: _, ...others } = renditions;
  return withNotes(state, block, { renditions: to === null ? others : { ...others, [level]: to } });
}

function withNotes(state: State, id: BlockId, change: Partial<BlockNotes>): Result<State> {
  const entry = state.blocks.get(id);
  const notes = notesOf(now(state), id);
  if (entry === undefined || notes === null) return fail("AP_BLOCK_UNKNOWN", { block: id });
  if (entry.notes.seq > state.seq)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "it ends with its frame" });
  const changed = withVersion(entry.notes, state.seq, { ...notes, ...change });
  return ok({ ...state, blocks: state.blocks.with(id, { ...entry, notes: changed }) });
}

function checkBlock(state: State, block: Block, stream: Stream): (Result<never> & { ok: false }) | null {
  const { id, message } = block;
  const mine = within(stream.reserved.block, id) && within(stream.reserved.message, message);
  if (!mine) return fail("AP_BLOCK_ID", { block: id, message, stream: stream.id });
  // A result may join a call its parent stream made, so any reserved message will do.
  if (block.pair !== null && block.pair >= state.next.message)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "its pair is not a message" });
  if (block.supersedes !== null && state.blocks.get(block.supersedes) === undefined)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "it supersedes a block that does not exist" });
  const first = state.messages.get(message)?.[0];
  const spoken =
    first === undefined ? null : must(state.blocks.get(first), "messages list known blocks").block;
  const together =
    spoken === null ||
    (spoken.stream === block.stream && spoken.turn === block.turn && spoken.speaker === block.speaker);
  if (!together)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "its message has another speaker or turn" });
  const groups = [
    [state.messages.get(message), limits.blocksPerMessageMax],
    [block.pair === null ? undefined : state.pairs.get(block.pair), limits.blocksPerPairMax],
  ] as const;
  const full = groups.some(([group, max]) => (group?.length ?? 0) >= max);
  return full ? fail("AP_BLOCK_INVALID", { block: id, problem: "its message or pair is full" }) : null;
}

/** Looked at from the end: what is used was reserved lately. */
function within(ranges: readonly IdRange[], id: number): boolean {
  return ranges.findLast(({ from, to }) => from <= id && id < to) !== undefined;
}

function grouped(groups: Paged<Group>, key: number, id: BlockId): Paged<Group> {
  return groups.with(key, [...(groups.get(key) ?? []), id]);
}
