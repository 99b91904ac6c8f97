import { type ApertureError, apertureError, blockId } from "../../base/index.ts";
import { blockOf, blocksOf, type Moment, type View } from "../../engine/index.ts";

const idsNamedMax = 5;

/** Says what was asked for and what lies nearest, so that the next try can be right. */
export function blocksUnknown(moment: Moment, view: View | null, asked: readonly number[]): ApertureError {
  const named = asked.slice(0, idsNamedMax).map((id) => `#${id}`);
  const rest = asked.length > idsNamedMax ? [`${asked.length - idsNamedMax} more`] : [];
  const nearest = elsewhere(moment, asked) ?? nearestText(moment, view, asked);
  return apertureError("AP_BLOCKS_UNKNOWN", { blocks: `block ${[...named, ...rest].join(", ")}`, nearest });
}

/** A number that is right, of a stream that was not meant. */
function elsewhere(moment: Moment, asked: readonly number[]): string | null {
  for (const id of asked) {
    const block = Number.isSafeInteger(id) && id > 0 ? blockOf(moment, blockId(id)) : null;
    if (block !== null) return `#${id} belongs to stream ${block.stream}`;
  }
  return null;
}

function nearestText(moment: Moment, view: View | null, asked: readonly number[]): string {
  const known = view === null ? [] : [...blocksOf(moment, view)].map(({ id }) => id);
  const near = nearestIds(asked, known).map((id) => `#${id}`);
  return near.length === 0 ? "it has no blocks yet" : `the nearest are ${near.join(", ")}`;
}

/** The few ids nearest to any that was asked for, in their order. */
function nearestIds(asked: readonly number[], known: readonly number[]): readonly number[] {
  const distance = (id: number): number => Math.min(...asked.map((one) => Math.abs(one - id)));
  const ranked = known.map((id) => ({ id, far: distance(id) })).sort((a, b) => a.far - b.far || a.id - b.id);
  return ranked
    .slice(0, idsNamedMax)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}
