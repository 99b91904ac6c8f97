import { type BlockId, blockId, fail, ok, type Result } from "../base/index.ts";
import {
  type AddedBlock,
  blocksOf,
  lifecycleOf,
  type Moment,
  type Place,
  placeOf,
  type View,
  zoneOf,
} from "../engine/index.ts";
import type { Pointer, Target } from "./command.ts";
import { cited } from "./written.ts";

/** Where a target is looked for, and how words find blocks: contents are not in the state. */
export type Surroundings = {
  readonly moment: Moment;
  readonly view: View;
  readonly topic: (words: string) => readonly BlockId[];
};

/** Words that fit more blocks than this have not said which are meant. */
export const topicBlocksMax = 20;
const idsNamedMax = 5;

/**
 * The blocks that are meant, each once, in the order they came. Only the view is looked at: an id of another
 * stream is as unknown as one that never was. Nothing stale, or an empty zone, is an answer too.
 */
export function resolveTarget(place: Surroundings, target: Target): Result<readonly BlockId[]> {
  const found = new Set<BlockId>();
  const view = viewBlocks(place);
  for (const pointer of target) {
    const ids = resolvePointer(place, view, pointer);
    if (!ids.ok) return ids;
    for (const id of ids.value) found.add(id);
  }
  if (target.length === 1 && found.size < 2) return ok([...found]);
  return ok(view().flatMap(({ id }) => (found.has(id) ? [id] : [])));
}

/** Walking through the view costs something, so it is done once, and only for pointers that need it. */
type ViewBlocks = () => readonly AddedBlock[];

function viewBlocks({ moment, view }: Surroundings): ViewBlocks {
  let blocks: readonly AddedBlock[] | null = null;
  return () => {
    blocks ??= [...blocksOf(moment, view)];
    return blocks;
  };
}

function resolvePointer(place: Surroundings, view: ViewBlocks, pointer: Pointer): Result<readonly BlockId[]> {
  switch (pointer.by) {
    case "block":
      return resolveBlocks(place, view, pointer);
    case "message":
      return resolveMessages(view, pointer);
    case "topic":
      return resolveTopic(place, pointer.words);
    case "zone":
      return ok(those(place, view, (each) => zoneOf(each) === pointer.zone));
    case "stale":
      return ok(those(place, view, (each) => lifecycleOf(each) === "stale"));
  }
}

type Numbers = { readonly first: number; readonly last: number };

/** Numbers have gaps: a range means those there are. */
function resolveBlocks(
  place: Surroundings,
  view: ViewBlocks,
  { first, last }: Numbers,
): Result<readonly BlockId[]> {
  if (first === last && placeOf(place.moment, place.view, blockId(first)) !== null)
    return ok([blockId(first)]);
  const ids = view().map(({ id }) => id);
  const inside = ids.filter((id) => id >= first && id <= last);
  if (inside.length > 0) return ok(inside);
  const blocks = first === last ? `block #${first}` : `block from #${first} to #${last}`;
  const near = nearestIds({ first, last }, ids).map((id) => `#${id}`);
  const nearest = near.length === 0 ? "it has no blocks yet" : `the nearest are ${near.join(", ")}`;
  return fail("AP_BLOCKS_UNKNOWN", { blocks, nearest });
}

function resolveMessages(view: ViewBlocks, { first, last }: Numbers): Result<readonly BlockId[]> {
  const inside = view().filter(({ message }) => message >= first && message <= last);
  if (inside.length > 0) return ok(inside.map(({ id }) => id));
  const near = nearestIds({ first, last }, [...new Set(view().map(({ message }) => message))]);
  const messages = first === last ? `message ${first}` : `message from ${first} to ${last}`;
  const known = near.length === 0 ? "it has none yet" : `the nearest are ${near.join(", ")}`;
  return fail("AP_MESSAGES_UNKNOWN", { messages, known });
}

function resolveTopic({ moment, view, topic }: Surroundings, words: string): Result<readonly BlockId[]> {
  const ids = [...new Set(topic(words))].filter((id) => placeOf(moment, view, id) !== null);
  if (ids.length === 0) return fail("AP_TOPIC_UNKNOWN", { topic: cited(words) });
  if (ids.length <= topicBlocksMax) return ok(ids);
  const named = ids.slice(0, idsNamedMax).map((id) => `#${id}`);
  const readings = `${named.join(", ")} and ${ids.length - idsNamedMax} more`;
  return fail("AP_TOPIC_AMBIGUOUS", { topic: cited(words), readings });
}

function those(
  { moment, view }: Surroundings,
  blocks: ViewBlocks,
  is: (place: Place) => boolean,
): readonly BlockId[] {
  return blocks().flatMap(({ id }) => {
    const place = placeOf(moment, view, id);
    return place !== null && is(place) ? [id] : [];
  });
}

/** The few numbers nearest to what was asked for, in their order. */
function nearestIds({ first, last }: Numbers, known: readonly number[]): readonly number[] {
  const distance = (id: number): number => (id < first ? first - id : id - last);
  return [...known]
    .sort((a, b) => distance(a) - distance(b) || a - b)
    .slice(0, idsNamedMax)
    .sort((a, b) => a - b);
}
