import type { StateRow } from "../api/contract.ts";
import type { PlacedBlock } from "./layout.ts";
import { percent } from "./percent.ts";

export type MarksProps = {
  readonly state: StateRow;
  readonly size: number;
  readonly placed: readonly PlacedBlock[];
  readonly height: number;
};

/** Draws the marks of the strip. `Legend` explains them in words. */
export function Marks({ state, size, placed, height }: MarksProps) {
  const { reserved, compactsAt, changedFrom, forecast, cached } = state.marks;
  const changed = placed.find(({ n }) => n === changedFrom?.block);
  return (
    <g>
      {reserved === null ? null : (
        <rect
          className="mark-reserved"
          x={percent(Math.max(0, size - reserved) / size)}
          width={percent(Math.min(reserved, size) / size)}
          height={height}
        />
      )}
      {(forecast?.next ?? []).map((used, turn) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the number of the turn.
          key={turn}
          className="mark-forecast"
          x={percent((forecast?.next[turn - 1] ?? state.window.used) / size)}
          width={percent((used - (forecast?.next[turn - 1] ?? state.window.used)) / size)}
          height={height}
          opacity={0.5 - turn * 0.08}
        />
      ))}
      {compactsAt === null ? null : (
        <line
          className="mark-compacts"
          x1={percent(compactsAt / size)}
          x2={percent(compactsAt / size)}
          y1={0}
          y2={height}
        />
      )}
      {cached === null || cached.tokens === 0 ? null : (
        <rect
          className="mark-cached"
          y={height + 3}
          width={percent(cached.tokens / size)}
          height={4}
          rx={2}
        />
      )}
      {changed === undefined ? null : (
        <svg className="mark-changed" x={percent(changed.start)} y={0} overflow="visible" aria-hidden="true">
          <path d="M-5 0H5L0 8Z" />
        </svg>
      )}
    </g>
  );
}
