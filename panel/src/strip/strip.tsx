import { memo, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { isComplete } from "../api/context-state.ts";
import type { StateRow, WindowRow } from "../api/contract.ts";
import { useLabels } from "../api/labels.ts";
import { countedText, percentText, sizeText, tokensText } from "../base/format.ts";
import {
  blockAt,
  blocksBetween,
  chosenSpans,
  heatOf,
  type Piece,
  type PlacedBlock,
  piecesOf,
  placeBlocks,
  type Span,
  zonePieces,
} from "./layout.ts";
import { Legend } from "./legend.tsx";
import { Marks } from "./marks.tsx";
import { percent } from "./percent.ts";
import { StripTable } from "./strip-table.tsx";

export type StripProps = {
  readonly state: StateRow;
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (blocks: readonly number[], how: { readonly adds: boolean }) => void;
};

const height = 36;
/** Includes the lanes below the strip: the cached prefix, and the last use of each piece. */
const pictureHeight = height + 15;
const leastPx = 2;

/** Draws the window in request order. The scale is the size of the window. */
export function Strip({ state, chosen, onChoose }: StripProps) {
  const { window, otherTokens } = state;
  const size = scaleOf(state);
  const [element, width] = useWidth();
  const { placed, pieces } = useMemo(() => layOut(state, { size, width }), [state, size, width]);
  const drag = useDrag(placed, onChoose);
  const [hovered, setHovered] = useState<PlacedBlock | null>(null);
  return (
    <div className="strip">
      <svg
        ref={element}
        className="strip-picture"
        width="100%"
        height={pictureHeight}
        role="img"
        aria-label={describeStrip(state)}
        onPointerDown={drag.begin}
        onPointerMove={(event) => {
          drag.move(event);
          setHovered(blockAt(placed, shareOf(event)));
        }}
        onPointerUp={drag.end}
        onPointerCancel={drag.end}
        onPointerLeave={() => setHovered(null)}
      >
        <Patterns />
        <rect className="strip-free" width="100%" height={height} />
        <rect className="strip-other" width={percent(otherTokens / size)} height={height} />
        <Pieces pieces={pieces} turn={state.turn} />
        <Marks state={state} size={size} placed={placed} height={height} />
        <Overlay {...{ placed, chosen, width }} drag={drag.span} />
      </svg>
      <p className="strip-caption" aria-hidden="true">
        {hovered === null ? (
          <Axis window={window} />
        ) : (
          <HoveredBlock session={state.session} block={hovered} />
        )}
      </p>
      <div className="strip-foot">
        <Legend state={state} />
        <StripTable state={state} />
      </div>
    </div>
  );
}

function layOut(state: StateRow, { size, width }: { readonly size: number; readonly width: number }) {
  const scale = { size, before: state.otherTokens };
  const placed = placeBlocks(state.blocks, scale);
  const pieces = isComplete(state) ? piecesOf(placed, leastPx / width) : zonePieces(state.strip, scale);
  return { placed, pieces };
}

type OverlayProps = {
  readonly placed: readonly PlacedBlock[];
  readonly chosen: ReadonlySet<number>;
  readonly width: number;
  readonly drag: Span | null;
};

/** Marks the chosen blocks, the selected or focused ones, and the current drag. */
function Overlay({ placed, chosen, width, drag }: OverlayProps) {
  return (
    <>
      {chosenSpans(placed, chosen).map(({ start, end }) => (
        <rect
          key={start}
          className="strip-chosen"
          x={percent(start)}
          width={percent(Math.max(end - start, 3 / width))}
          y={1}
          height={height - 2}
        />
      ))}
      {placed
        .filter(({ row }) => row.selected || row.focused)
        .map(({ n, start, end }) => (
          <rect
            key={n}
            className="strip-focus"
            x={percent(start)}
            width={percent(end - start)}
            y={height - 5}
            height={5}
          />
        ))}
      {drag === null ? null : (
        <rect
          className="strip-drag"
          x={percent(drag.start)}
          width={percent(drag.end - drag.start)}
          height={height}
        />
      )}
    </>
  );
}

/** Tokens of the whole width: the window, or the forecast if the window is unknown. */
function scaleOf({ window: { size, used }, marks: { forecast } }: StateRow): number {
  return Math.max(size ?? forecast?.next.at(-1) ?? 0, used, 1);
}

function Axis({ window: { size, used, exact } }: { readonly window: WindowRow }) {
  if (size === null)
    return (
      <span className="axis">
        <span>0</span>
        <span>{countedText(used, exact)} used; the window of this model is unknown</span>
      </span>
    );
  return (
    <span className="axis">
      {[0, 25, 50, 75].map((share) => (
        <span key={share}>{share} %</span>
      ))}
      <span>{sizeText(size)}</span>
    </span>
  );
}

type PiecesProps = { readonly pieces: readonly Piece[]; readonly turn: number };

/** Memoized, so that pointing and dragging do not re-render the pieces. */
const Pieces = memo(function Pieces({ pieces, turn }: PiecesProps) {
  return pieces.map((piece) => <PieceRect key={piece.from} piece={piece} turn={turn} />);
});

type PieceProps = { readonly piece: Piece; readonly turn: number };

function PieceRect({ piece, turn }: PieceProps) {
  const { start, end, zone, isRun, isLowered, isPending, isOurs } = piece;
  const box = { x: percent(start), width: percent(end - start), height };
  return (
    <g>
      <rect className={`strip-block ${isOurs ? "ours" : zone}`} {...box} />
      {isRun ? <rect className="strip-run" {...box} /> : null}
      {isLowered ? <rect className="strip-lowered" {...box} /> : null}
      {isPending ? <rect className="strip-pending" {...box} y={0} height={4} /> : null}
      <rect className={`strip-heat heat-${heatOf(piece, turn)}`} {...box} y={height + 10} height={4} />
    </g>
  );
}

function describeStrip({ window, zones }: StateRow): string {
  const filled = zones.filter(({ blocks }) => blocks > 0);
  const parts = filled
    .filter(({ zone }) => zone !== "cold")
    .map(({ zone, tokens, blocks: count }) => `${zone} ${tokensText(tokens)} in ${count}`);
  const share = window.size === null ? "" : `${percentText({ part: window.used, whole: window.size })} `;
  const count = filled.reduce((sum, { blocks }) => sum + blocks, 0);
  return `Context window, ${share}used by ${count} blocks: ${parts.join(", ")}. The list below contains every block.`;
}

/** A component of its own, so that new labels re-render nothing else of the strip. */
type HoveredBlockProps = { readonly session: string; readonly block: PlacedBlock };

function HoveredBlock({ session, block: { n, row } }: HoveredBlockProps) {
  const labels = useLabels(session, [n]);
  const label = row.topic ?? labels.get(n) ?? "";
  const topic = label === "" ? "" : ` ${label}`;
  return `#${n} ${row.kind}${topic} · ${countedText(row.tokens, row.exact)} · ${row.zone}`;
}

type Drag = { readonly from: number; readonly to: number; readonly adds: boolean };

function useDrag(placed: readonly PlacedBlock[], onChoose: StripProps["onChoose"]) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const begin = (event: PointerEvent<SVGSVGElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const share = shareOf(event);
    setDrag({ from: share, to: share, adds: event.ctrlKey || event.metaKey });
  };
  const move = (event: PointerEvent<SVGSVGElement>): void => {
    const to = shareOf(event);
    setDrag((before) => (before === null ? null : { ...before, to }));
  };
  const end = (): void => {
    if (drag === null) return;
    const touched = blocksBetween(placed, drag.from, drag.to);
    onChoose(
      touched.map(({ n }) => n),
      { adds: drag.adds },
    );
    setDrag(null);
  };
  const span =
    drag === null ? null : { start: Math.min(drag.from, drag.to), end: Math.max(drag.from, drag.to) };
  return { begin, move, end, span };
}

function shareOf(event: PointerEvent<SVGSVGElement>): number {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - box.left) / Math.max(1, box.width)));
}

function useWidth() {
  const element = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(1_000);
  useEffect(() => {
    const watched = element.current;
    if (watched === null) return;
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(100, entry?.contentRect.width ?? 100)),
    );
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}

/** Textures besides the colours: free, merged, shortened, reserved, and Aperture's own. */
function Patterns() {
  return (
    <defs>
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line className="ink-free" x1="0" y1="0" x2="0" y2="6" />
      </pattern>
      <pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">
        <circle className="ink-ours" cx="2.5" cy="2.5" r="1.2" />
      </pattern>
      <pattern id="run" width="3" height="3" patternUnits="userSpaceOnUse">
        <line className="ink-run" x1="0" y1="0" x2="0" y2="3" />
      </pattern>
      <pattern id="lowered" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <line className="ink-lowered" x1="0" y1="0" x2="0" y2="5" />
      </pattern>
      <pattern id="reserved" width="4" height="4" patternUnits="userSpaceOnUse">
        <line className="ink-reserved" x1="0" y1="0" x2="0" y2="4" />
      </pattern>
    </defs>
  );
}
