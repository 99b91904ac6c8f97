import { memo, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { StateRow, WindowRow } from "../api/contract.ts";
import { useLabels } from "../api/labels.ts";
import { isWhole } from "../api/state.ts";
import { countedText, percentText, sizeText, tokensText } from "../base/words.ts";
import {
  heatOf,
  type Piece,
  type Place,
  piecesOf,
  placeAt,
  placesBetween,
  placesOf,
  type Span,
  spansOf,
  zonePieces,
} from "./layout.ts";
import { Legend } from "./legend.tsx";
import { Marks } from "./marks.tsx";
import { Patterns } from "./patterns.tsx";
import { percent } from "./percent.ts";
import { StripTable } from "./strip-table.tsx";

export type StripProps = {
  readonly state: StateRow;
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (blocks: readonly number[], how: { readonly adds: boolean }) => void;
};

const height = 36;
/** With the lanes below it: what was cached, and how recently each piece was used. */
const wholeHeight = height + 15;
const leastPx = 2;

/** The window as one picture: request order, on a scale that never changes. */
export function Strip({ state, chosen, onChoose }: StripProps) {
  const { window, otherTokens } = state;
  const size = scaleOf(state);
  const [element, width] = useWidth();
  const { places, pieces } = useMemo(() => drawnOf(state, { size, width }), [state, size, width]);
  const drag = useDrag(places, onChoose);
  const [pointed, setPointed] = useState<Place | null>(null);
  return (
    <div className="strip">
      <svg
        ref={element}
        className="strip-picture"
        width="100%"
        height={wholeHeight}
        role="img"
        aria-label={labelOf(state)}
        onPointerDown={drag.begin}
        onPointerMove={(event) => {
          drag.move(event);
          setPointed(placeAt(places, shareOf(event)));
        }}
        onPointerUp={drag.end}
        onPointerCancel={drag.end}
        onPointerLeave={() => setPointed(null)}
      >
        <Patterns />
        <rect className="strip-free" width="100%" height={height} />
        <rect className="strip-other" width={percent(otherTokens / size)} height={height} />
        <Pieces pieces={pieces} turn={state.turn} />
        <Marks state={state} size={size} places={places} height={height} />
        <Overlay {...{ places, chosen, width }} drag={drag.span} />
      </svg>
      <p className="strip-pointed" aria-hidden="true">
        {pointed === null ? <Axis window={window} /> : <Pointed session={state.session} place={pointed} />}
      </p>
      <div className="strip-foot">
        <Legend state={state} />
        <StripTable state={state} />
      </div>
    </div>
  );
}

function drawnOf(state: StateRow, { size, width }: { readonly size: number; readonly width: number }) {
  const scale = { size, before: state.otherTokens };
  const places = placesOf(state.blocks, scale);
  const pieces = isWhole(state) ? piecesOf(places, leastPx / width) : zonePieces(state.strip, scale);
  return { places, pieces };
}

type OverlayProps = {
  readonly places: readonly Place[];
  readonly chosen: ReadonlySet<number>;
  readonly width: number;
  readonly drag: Span | null;
};

/** What a person has chosen, pointed the model at, or is just drawing a frame around. */
function Overlay({ places, chosen, width, drag }: OverlayProps) {
  return (
    <>
      {spansOf(places, chosen).map(({ start, end }) => (
        <rect
          key={start}
          className="strip-chosen"
          x={percent(start)}
          width={percent(Math.max(end - start, 3 / width))}
          y={1}
          height={height - 2}
        />
      ))}
      {places
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

/** Tokens of the whole width: the window; where nobody knows its size, what is used and soon will be. */
function scaleOf({ window: { size, used }, marks: { forecast } }: StateRow): number {
  return Math.max(size ?? forecast?.next.at(-1) ?? 0, used, 1);
}

/** The scale never changes: it is the window. */
function Axis({ window: { size, used, exact } }: { readonly window: WindowRow }) {
  if (size === null)
    return (
      <span className="axis">
        <span>0</span>
        <span>{countedText(used, exact)} used; how much fits is not known for this model</span>
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

/** Many, and the same until the state changes: they are not drawn again because somebody points or drags. */
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

function labelOf({ window, zones }: StateRow): string {
  const filled = zones.filter(({ blocks }) => blocks > 0);
  const parts = filled
    .filter(({ zone }) => zone !== "cold")
    .map(({ zone, tokens, blocks: count }) => `${zone} ${tokensText(tokens)} in ${count}`);
  const share = window.size === null ? "" : `${percentText({ part: window.used, whole: window.size })} `;
  const count = filled.reduce((sum, { blocks }) => sum + blocks, 0);
  return `Context window, ${share}used by ${count} blocks: ${parts.join(", ")}. The list below has each of them.`;
}

/** It alone looks at labels: they come in while others scroll, and nothing else here changes with them. */
function Pointed({ session, place: { n, row } }: { readonly session: string; readonly place: Place }) {
  const labels = useLabels(session, [n]);
  const label = row.topic ?? labels.get(n) ?? "";
  const topic = label === "" ? "" : ` ${label}`;
  return `#${n} ${row.kind}${topic} · ${countedText(row.tokens, row.exact)} · ${row.zone}`;
}

type Drag = { readonly from: number; readonly to: number; readonly adds: boolean };

function useDrag(places: readonly Place[], onChoose: StripProps["onChoose"]) {
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
    const touched = placesBetween(places, drag.from, drag.to);
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
