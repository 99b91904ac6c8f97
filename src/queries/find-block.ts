import {
  type ApertureError,
  apertureError,
  blockId,
  fail,
  isCount,
  must,
  ok,
  type Result,
} from "../base/index.ts";
import type { Stream, View } from "../engine/index.ts";
import {
  type BlockView,
  blockOf,
  blockViewOf,
  type Moment,
  pairOf,
  streamOf,
  viewBlocks,
} from "../engine/moment/index.ts";
import { viewIn } from "../log/index.ts";
import { readPart } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import { chooseStream } from "./choose-stream.ts";
import type { BlockQuery } from "./queries.ts";

export type LocatedBlock = { readonly blockView: BlockView; readonly stream: Stream };

export function locateBlock(
  moment: Moment,
  { block, stream: requested }: Pick<BlockQuery, "block" | "stream">,
): Result<LocatedBlock> {
  const unknown = fail("AP_BLOCK_UNKNOWN", { block });
  const added = isCount(block) ? blockOf(moment, blockId(block)) : null;
  if (added === null) return unknown;
  const chosen =
    requested === undefined ? ok(streamOf(moment, added.stream)) : chooseStream(moment, requested);
  if (!chosen.ok) return chosen;
  const stream = must(chosen.value, "a block has a stream");
  const view = viewIn(moment, stream);
  const blockView = view === null ? null : blockViewOf(moment, view, added.id);
  return blockView === null ? unknown : ok({ blockView, stream });
}

/** The stored call that a result answers; null if it is not in the view or cannot be read. */
export async function callContent(
  store: Store,
  blockView: BlockView,
  result: Uint8Array,
): Promise<Uint8Array | null> {
  const part = readPart(result, blockView.block);
  const id = part.type === "result" && part.callId !== "" ? part.callId : null;
  const call = id === null ? undefined : pairOf(blockView).find(({ block }) => block.anchor === `call:${id}`);
  const stored = call === undefined ? null : await store.content(call.block.content);
  return stored?.ok === true ? stored.value : null;
}

const idsNamedMax = 5;

/** Names the unknown blocks and the nearest known ones, so that the next attempt can be right. */
export function unknownBlocksError(
  moment: Moment,
  view: View | null,
  requested: readonly number[],
): ApertureError {
  const named = requested.slice(0, idsNamedMax).map((id) => `#${id}`);
  const rest = requested.length > idsNamedMax ? [`${requested.length - idsNamedMax} more`] : [];
  const nearest = otherStreamText(moment, requested) ?? nearestText(moment, view, requested);
  return apertureError("AP_BLOCKS_UNKNOWN", { blocks: `block ${[...named, ...rest].join(", ")}`, nearest });
}

/** Names the stream of a requested block, if it exists in another stream. */
function otherStreamText(moment: Moment, requested: readonly number[]): string | null {
  for (const id of requested) {
    const block = Number.isSafeInteger(id) && id > 0 ? blockOf(moment, blockId(id)) : null;
    if (block !== null) return `#${id} belongs to stream ${block.stream}`;
  }
  return null;
}

function nearestText(moment: Moment, view: View | null, requested: readonly number[]): string {
  const existing = view === null ? [] : [...viewBlocks(moment, view)].map(({ id }) => id);
  const near = nearestIds(requested, existing).map((id) => `#${id}`);
  return near.length === 0 ? "it has no blocks yet" : `the nearest are ${near.join(", ")}`;
}

/** The few ids nearest to any requested one, in ascending order. */
function nearestIds(requested: readonly number[], existing: readonly number[]): readonly number[] {
  const distance = (id: number): number => Math.min(...requested.map((wantedId) => Math.abs(wantedId - id)));
  const ranked = existing
    .map((id) => ({ id, far: distance(id) }))
    .sort((a, b) => a.far - b.far || a.id - b.id);
  return ranked
    .slice(0, idsNamedMax)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}
