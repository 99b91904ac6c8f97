import { type ApertureError, apertureError } from "../../base/index.ts";

const idsNamedMax = 5;

/** Says what was asked for and what lies nearest, so that the next try can be right. */
export function blocksUnknown(asked: readonly number[], known: readonly number[]): ApertureError {
  const named = asked.slice(0, idsNamedMax).map((id) => `#${id}`);
  const rest = asked.length > idsNamedMax ? [`${asked.length - idsNamedMax} more`] : [];
  const near = nearestIds(asked, known).map((id) => `#${id}`);
  const nearest = near.length === 0 ? "it has no blocks yet" : `the nearest are ${near.join(", ")}`;
  return apertureError("AP_BLOCKS_UNKNOWN", { blocks: `block ${[...named, ...rest].join(", ")}`, nearest });
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
