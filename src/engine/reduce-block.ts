import {
  type BlockId,
  fail,
  limits,
  must,
  ok,
  type PagedTable,
  type Result,
  sameData,
  seqOf,
} from "../base/index.ts";
import type { AddedBlock, Block, BlockAttributes } from "./frames/block.ts";
import type { BlockDelta } from "./frames/delta.ts";
import { attributesOf, blockOf, now, streamOf } from "./moment/moment.ts";
import type { BlockGroup, ReservedRange, State, Stream } from "./state.ts";
import { type Versions, withVersion } from "./versions.ts";

type BlockDeltaOf<T extends BlockDelta["type"]> = Extract<BlockDelta, { type: T }>;

/** Most blocks never get other attributes, so they share this object. */
const initialAttributes: BlockAttributes = {
  present: true,
  purged: false,
  tokens: null,
  topics: [],
  scope: "session",
  renditions: {},
};

export function applyBlockAdded(state: State, block: Block): Result<State> {
  const stream = streamOf(now(state), block.stream);
  if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: block.stream });
  const known = state.blocks.get(block.id);
  if (known !== undefined) return addBlockAgain(state, block);
  const refused = checkBlock(state, block, stream);
  if (refused !== null) return refused;
  return ok({
    ...state,
    blocks: state.blocks.with(block.id, {
      block: addedBlock(block, state.seq),
      attributes: firstVersions(block, state.seq),
    }),
    messages: addToGroup(state.messages, block.message, block.id),
    pairs: block.pair === null ? state.pairs : addToGroup(state.pairs, block.pair, block.id),
    streams: state.streams.with(stream.id, {
      ...stream,
      blocks: stream.blocks.push(block.id),
      due: block.ttl === null ? stream.due : addToGroup(stream.due, block.ttl.at, block.id),
    }),
  });
}

/** An ephemeral block gets its end in its first frame, so that no sweep is needed, live or in replay. */
function firstVersions({ ephemeral }: Block, seq: State["seq"]): Versions<BlockAttributes> {
  const first = withVersion(null, seq, initialAttributes);
  return ephemeral ? withVersion(first, seqOf(seq + 1), { ...initialAttributes, present: false }) : first;
}

/** Field by field: spreading a block and adding to it takes a hundred times as long. */
function addedBlock(block: Block, addedSeq: State["seq"]): AddedBlock {
  const { id, kind, stream, message, turn, speaker, content, anchor, pair, taint, supersedes, ttl } = block;
  const { form, ephemeral, during } = block;
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
  const formed: AddedBlock = form === undefined ? added : Object.assign(added, { form });
  if (ephemeral === undefined && during === undefined) return formed;
  return { ...formed, ...(ephemeral && { ephemeral }), ...(during !== undefined && { during }) };
}

/** Redoing a creation brings back the identical block; any other block with that id is refused. */
function addBlockAgain(state: State, block: Block): Result<State> {
  const { addedSeq: _, ...known } = must(state.blocks.get(block.id), "the block is known").block;
  const attributes = must(attributesOf(now(state), block.id), "a known block has attributes");
  if (attributes.present || block.ephemeral || !sameData(known, block))
    return fail("AP_BLOCK_EXISTS", { block: block.id });
  return withAttributes(state, block.id, { present: true });
}

export function applyBlockRemoved(state: State, block: Block): Result<State> {
  const present = blockOf(now(state), block.id);
  if (present === null) return fail("AP_BLOCK_UNKNOWN", { block: block.id });
  const { addedSeq: _, ...known } = present;
  if (!sameData(known, block)) return fail("AP_DELTA_STALE", { type: "block-removed", block: block.id });
  return withAttributes(state, block.id, { present: false });
}

export function applyBlockPurged(state: State, id: BlockId): Result<State> {
  return withAttributes(state, id, { purged: true });
}

export function applyTokensCounted(state: State, delta: BlockDeltaOf<"tokens-counted">): Result<State> {
  if (attributesOf(now(state), delta.block)?.tokens) return fail("AP_TOKENS_FROZEN", { block: delta.block });
  return withAttributes(state, delta.block, { tokens: delta.tokens });
}

export function applyTopicsSet(state: State, delta: BlockDeltaOf<"topics-set">): Result<State> {
  const { type, block, from, to } = delta;
  const attributes = attributesOf(now(state), block);
  if (attributes !== null && !sameData(attributes.topics, from))
    return fail("AP_DELTA_STALE", { type, block });
  return withAttributes(state, block, { topics: to });
}

export function applyScopeSet(state: State, delta: BlockDeltaOf<"scope-set">): Result<State> {
  const { type, block, from, to } = delta;
  const attributes = attributesOf(now(state), block);
  if (attributes !== null && attributes.scope !== from) return fail("AP_DELTA_STALE", { type, block });
  return withAttributes(state, block, { scope: to });
}

export function applyRenditionSet(state: State, delta: BlockDeltaOf<"rendition-set">): Result<State> {
  const { type, block, level, from, to } = delta;
  const attributes = attributesOf(now(state), block);
  if (attributes === null) return fail("AP_BLOCK_UNKNOWN", { block });
  const { renditions } = attributes;
  if (!sameData(renditions[level] ?? null, from)) return fail("AP_DELTA_STALE", { type, block });
  const { [level]: _, ...others } = renditions;
  return withAttributes(state, block, { renditions: to === null ? others : { ...others, [level]: to } });
}

function withAttributes(state: State, id: BlockId, change: Partial<BlockAttributes>): Result<State> {
  const entry = state.blocks.get(id);
  const attributes = attributesOf(now(state), id);
  if (entry === undefined || attributes === null) return fail("AP_BLOCK_UNKNOWN", { block: id });
  if (entry.attributes.seq > state.seq)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "it ends with its frame" });
  const changed = withVersion(entry.attributes, state.seq, { ...attributes, ...change });
  return ok({ ...state, blocks: state.blocks.with(id, { ...entry, attributes: changed }) });
}

function checkBlock(state: State, block: Block, stream: Stream): (Result<never> & { ok: false }) | null {
  const { id, message } = block;
  const isReserved = isInRanges(stream.reserved.block, id) && isInRanges(stream.reserved.message, message);
  if (!isReserved) return fail("AP_BLOCK_ID", { block: id, message, stream: stream.id });
  // A result may belong to a call of its parent stream, so any reserved message is allowed.
  if (block.pair !== null && block.pair >= state.next.message)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "its pair is not a message" });
  if (block.supersedes !== null && state.blocks.get(block.supersedes) === undefined)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "it supersedes a block that does not exist" });
  const first = state.messages.get(message)?.[0];
  const sibling =
    first === undefined ? null : must(state.blocks.get(first), "messages list known blocks").block;
  const isSameMessage =
    sibling === null ||
    (sibling.stream === block.stream && sibling.turn === block.turn && sibling.speaker === block.speaker);
  if (!isSameMessage)
    return fail("AP_BLOCK_INVALID", { block: id, problem: "its message has another speaker or turn" });
  const groups = [
    [state.messages.get(message), limits.blocksPerMessageMax],
    [block.pair === null ? undefined : state.pairs.get(block.pair), limits.blocksPerPairMax],
  ] as const;
  const isFull = groups.some(([group, max]) => (group?.length ?? 0) >= max);
  return isFull ? fail("AP_BLOCK_INVALID", { block: id, problem: "its message or pair is full" }) : null;
}

/** Searches from the end: an id in use was mostly reserved lately. */
function isInRanges(ranges: readonly ReservedRange[], id: number): boolean {
  return ranges.findLast(({ from, to }) => from <= id && id < to) !== undefined;
}

function addToGroup(groups: PagedTable<BlockGroup>, key: number, id: BlockId): PagedTable<BlockGroup> {
  return groups.with(key, [...(groups.get(key) ?? []), id]);
}
