import { type BlockId, blockId, fail, ok, type Result } from "../base/index.ts";
import type { AddedBlock } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  type BlockView,
  blockViewOf,
  lifecycleOf,
  type Moment,
  viewBlocks,
  zoneOf,
} from "../engine/moment/index.ts";
import type { Pointer, Target } from "./command.ts";
import { quoteInput } from "./refuse.ts";

export type ResolveDeps = {
  readonly moment: Moment;
  readonly view: View;
  /** Finds blocks by words: contents are not in the state. */
  readonly findByTopic: (words: string) => readonly BlockId[];
};

/** A topic that fits more blocks than this is ambiguous. */
export const topicBlocksMax = 20;
const idsNamedMax = 5;

/**
 * The blocks of a target, each once, in the order of the view. It searches only this view: an id of another
 * stream is as unknown as an id that never existed. No stale block, or an empty zone, is a valid result.
 */
export function resolveTarget(deps: ResolveDeps, target: Target): Result<readonly BlockId[]> {
  const found = new Set<BlockId>();
  const view = listBlocksOnce(deps);
  for (const pointer of target) {
    const ids = resolvePointer(deps, view, pointer);
    if (!ids.ok) return ids;
    for (const id of ids.value) found.add(id);
  }
  if (target.length === 1 && found.size < 2) return ok([...found]);
  return ok(view().flatMap(({ id }) => (found.has(id) ? [id] : [])));
}

/** Lists the blocks of the view. The list is made once, and only for pointers that need it. */
type ViewBlocks = () => readonly AddedBlock[];

function listBlocksOnce({ moment, view }: ResolveDeps): ViewBlocks {
  let blocks: readonly AddedBlock[] | null = null;
  return () => {
    blocks ??= [...viewBlocks(moment, view)];
    return blocks;
  };
}

function resolvePointer(deps: ResolveDeps, view: ViewBlocks, pointer: Pointer): Result<readonly BlockId[]> {
  switch (pointer.by) {
    case "block":
      return resolveBlocks(deps, view, pointer);
    case "message":
      return resolveMessages(view, pointer);
    case "topic":
      return resolveTopic(deps, pointer.words);
    case "zone":
      return ok(blocksWhere(deps, view, (each) => zoneOf(each) === pointer.zone));
    case "stale":
      return ok(blocksWhere(deps, view, (each) => lifecycleOf(each) === "stale"));
  }
}

type PointerRange = { readonly first: number; readonly last: number };

/** Ids have gaps: a range means the blocks that exist in it. */
function resolveBlocks(
  deps: ResolveDeps,
  view: ViewBlocks,
  { first, last }: PointerRange,
): Result<readonly BlockId[]> {
  if (first === last && blockViewOf(deps.moment, deps.view, blockId(first)) !== null)
    return ok([blockId(first)]);
  const ids = view().map(({ id }) => id);
  const inside = ids.filter((id) => id >= first && id <= last);
  if (inside.length > 0) return ok(inside);
  const blocks = first === last ? `block #${first}` : `block from #${first} to #${last}`;
  const near = nearestIds({ first, last }, ids).map((id) => `#${id}`);
  const nearest = near.length === 0 ? "it has no blocks yet" : `the nearest are ${near.join(", ")}`;
  return fail("AP_BLOCKS_UNKNOWN", { blocks, nearest });
}

function resolveMessages(view: ViewBlocks, { first, last }: PointerRange): Result<readonly BlockId[]> {
  const inside = view().filter(({ message }) => message >= first && message <= last);
  if (inside.length > 0) return ok(inside.map(({ id }) => id));
  const near = nearestIds({ first, last }, [...new Set(view().map(({ message }) => message))]);
  const messages = first === last ? `message ${first}` : `message from ${first} to ${last}`;
  const known = near.length === 0 ? "it has none yet" : `the nearest are ${near.join(", ")}`;
  return fail("AP_MESSAGES_UNKNOWN", { messages, known });
}

function resolveTopic({ moment, view, findByTopic }: ResolveDeps, words: string): Result<readonly BlockId[]> {
  const ids = [...new Set(findByTopic(words))].filter((id) => blockViewOf(moment, view, id) !== null);
  if (ids.length === 0) return fail("AP_TOPIC_UNKNOWN", { topic: quoteInput(words) });
  if (ids.length <= topicBlocksMax) return ok(ids);
  const named = ids.slice(0, idsNamedMax).map((id) => `#${id}`);
  const readings = `${named.join(", ")} and ${ids.length - idsNamedMax} more`;
  return fail("AP_TOPIC_AMBIGUOUS", { topic: quoteInput(words), readings });
}

function blocksWhere(
  { moment, view }: ResolveDeps,
  blocks: ViewBlocks,
  matches: (blockView: BlockView) => boolean,
): readonly BlockId[] {
  return blocks().flatMap(({ id }) => {
    const blockView = blockViewOf(moment, view, id);
    return blockView !== null && matches(blockView) ? [id] : [];
  });
}

/** The few known ids nearest to the range, in ascending order. */
function nearestIds({ first, last }: PointerRange, known: readonly number[]): readonly number[] {
  const distance = (id: number): number => (id < first ? first - id : id - last);
  return [...known]
    .sort((a, b) => distance(a) - distance(b) || a - b)
    .slice(0, idsNamedMax)
    .sort((a, b) => a - b);
}
