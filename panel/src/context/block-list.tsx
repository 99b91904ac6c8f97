import { defaultRangeExtractor, type Range, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, memo, useCallback, useEffect, useMemo, useRef } from "react";
import type { BlockRow } from "../api/contract.ts";
import { useLabels } from "../api/labels.ts";
import { countedText, formNames } from "../base/format.ts";
import { allOf, cleared, clicked, moved, type Selection, toggled } from "./selection.ts";

export type BlockListProps = {
  readonly session: string;
  readonly rows: readonly BlockRow[];
  /** The number of blocks that are not read yet. */
  readonly more: number;
  /** The seq that is shown; null for now. Blocks added by its frame are marked. */
  readonly at: number | null;
  readonly selection: Selection;
  readonly onSelect: (change: (before: Selection) => Selection) => void;
  readonly onOpen: (block: number) => void;
};

const rowPx = 30;
const columns = ["", "#", "zone", "kind", "topic", "tokens", "shown", "turns left", "marks"] as const;

const columnClasses: Readonly<Record<(typeof columns)[number], string>> = {
  "": "box",
  "#": "n",
  zone: "zone",
  kind: "kind",
  topic: "topic",
  tokens: "tokens",
  shown: "shown",
  "turns left": "turns-left",
  marks: "marks",
};

/** The blocks as a grid. Only visible rows are in the DOM. */
export function BlockList(props: BlockListProps) {
  const { session, rows, more, at, selection, onSelect, onOpen } = props;
  const { scroller, virtual, order, cursorAt, onKeyDown } = useGrid(props);
  const onClick = useCallback(
    (n: number, event: MouseEvent) => onSelect((before) => clickedAt(before, order, { n, event })),
    [onSelect, order],
  );
  const onToggle = useCallback((n: number) => onSelect((before) => toggled(before, n)), [onSelect]);
  const visible = virtual.getVirtualItems();
  const labels = useLabels(
    session,
    visible.flatMap(({ index }) => rows[index]?.n ?? []),
  );
  return (
    <div className="blocks">
      <div className="blocks-head" aria-hidden="true">
        {columns.map((name) => (
          <span key={name} className={`cell ${columnClasses[name]}`}>
            {name}
          </span>
        ))}
      </div>
      <div
        ref={scroller}
        className="blocks-scroll"
        role="grid"
        aria-label="Blocks of the context"
        aria-multiselectable="true"
        aria-rowcount={rows.length + more}
        aria-colcount={columns.length}
        tabIndex={rows.length === 0 ? 0 : -1}
        onKeyDown={onKeyDown}
      >
        <div className="blocks-all" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {visible.map(({ index, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <BlockLine
                key={row.n}
                row={row}
                label={row.topic ?? labels.get(row.n) ?? ""}
                index={index}
                start={start}
                isNew={row.addedSeq === at}
                isChosen={selection.chosen.has(row.n)}
                isCursor={index === cursorAt}
                onClick={onClick}
                onToggle={onToggle}
                onOpen={onOpen}
              />
            );
          })}
        </div>
      </div>
      {rows.length === 0 ? <p className="blocks-none dim">No block matches the filter.</p> : null}
    </div>
  );
}

/** The virtualizer, the cursor and the keyboard handling of the grid. */
function useGrid({ rows, selection, onSelect }: BlockListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const order = useMemo(() => rows.map(({ n }) => n), [rows]);
  // Without a cursor, Tab reaches the first row.
  const cursorAt = Math.max(0, selection.cursor === null ? 0 : order.indexOf(selection.cursor));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 4,
    initialRect: { width: innerWidth, height: innerHeight / 2 },
    observeElementRect: observeSize,
    // The row that Tab reaches stays in the DOM when it is scrolled out of sight.
    rangeExtractor: (range) => withCursor(range, cursorAt),
  });
  // A block chosen on the strip or by a shortcut is scrolled into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move of the cursor scrolls.
  useEffect(() => {
    if (selection.cursor !== null) virtual.scrollToIndex(cursorAt, { align: "auto" });
  }, [selection.cursor]);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const change = changeFor(event, order);
    if (change === null) return;
    event.preventDefault();
    event.stopPropagation();
    const after = change(selection);
    onSelect(() => after);
    const at = after.cursor === null ? -1 : order.indexOf(after.cursor);
    if (at === -1 || after.cursor === selection.cursor) return;
    virtual.scrollToIndex(at);
    requestAnimationFrame(() => focusRow(scroller.current, at));
  };
  return { scroller, virtual, order, cursorAt, onKeyDown };
}

type OnSize = (size: { readonly width: number; readonly height: number }) => void;

/** Uses the size the browser reports after layout; measuring at once would force a second layout. */
function observeSize({ scrollElement }: Virtualizer<HTMLDivElement, Element>, onSize: OnSize) {
  if (scrollElement === null) return;
  const observer = new ResizeObserver(([entry]) => {
    if (entry !== undefined) onSize(entry.contentRect);
  });
  observer.observe(scrollElement);
  return () => observer.disconnect();
}

type LineProps = {
  readonly row: BlockRow;
  readonly label: string;
  readonly index: number;
  readonly start: number;
  readonly isNew: boolean;
  readonly isChosen: boolean;
  readonly isCursor: boolean;
  readonly onClick: (n: number, event: MouseEvent) => void;
  readonly onToggle: (n: number) => void;
  readonly onOpen: (n: number) => void;
};

/** Memoized, so that scrolling renders new rows only. */
const BlockLine = memo(function BlockLine(props: LineProps) {
  const { row, label, index, start, isNew, isChosen, isCursor, onClick, onToggle, onOpen } = props;
  const more = `${row.counted ? "" : " not-sent"}${isNew ? " new" : ""}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all rows.
    <div
      className={`row${isChosen ? " chosen" : ""}${more}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isChosen}
      data-index={index}
      data-block={row.n}
      tabIndex={isCursor ? 0 : -1}
      style={{ transform: `translateY(${start}px)` }}
      onClick={(event) => onClick(row.n, event)}
      onDoubleClick={() => onOpen(row.n)}
    >
      <span className="cell box" role="gridcell">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isChosen}
          aria-label={`Choose block ${row.n}`}
          onClick={(event) => event.stopPropagation()}
          onChange={() => onToggle(row.n)}
        />
      </span>
      <span className="cell n" role="gridcell">
        {row.n}
      </span>
      <span className="cell zone" role="gridcell">
        <i className={`zone-dot ${row.origin === "aperture" ? "ours" : row.zone}`} aria-hidden="true" />
        {row.zone}
      </span>
      <span className="cell kind" role="gridcell">
        {row.kind}
      </span>
      <span className="cell topic" role="gridcell" title={label}>
        {label}
      </span>
      <span className="cell tokens" role="gridcell">
        {countedText(row.tokens, row.exact)}
      </span>
      <span className="cell shown" role="gridcell">
        {row.pending ? `${formNames[row.shown]} → ${formNames[row.wanted]}` : formNames[row.shown]}
      </span>
      <span className="cell turns-left" role="gridcell">
        {row.ttl ?? "–"}
      </span>
      <span className="cell marks" role="gridcell">
        {marksOf(row).map((mark) => (
          <span key={mark} className={`badge ${mark}`}>
            {mark}
          </span>
        ))}
      </span>
    </div>
  );
});

export function marksOf(row: BlockRow): readonly string[] {
  const marks: readonly (readonly [boolean, string])[] = [
    [row.pinned, "pinned"],
    [row.focused, "focused"],
    [row.selected, "selected"],
    [row.withheld, "withheld"],
    [row.pending, "pending"],
    [row.state === "archived" || (row.state === "stale" && row.ttl !== null), row.state],
  ];
  return marks.filter(([holds]) => holds).map(([, mark]) => mark);
}

function withCursor(range: Range, cursor: number): number[] {
  const shown = defaultRangeExtractor(range);
  if (cursor >= range.count || shown.includes(cursor)) return shown;
  return [...shown, cursor].sort((a, b) => a - b);
}

function focusRow(scroller: HTMLElement | null, index: number): void {
  scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
}

type Clicked = { readonly n: number; readonly event: MouseEvent };

function clickedAt(before: Selection, order: readonly number[], { n, event }: Clicked): Selection {
  return clicked(before, order, { n, toggles: event.ctrlKey || event.metaKey, extends: event.shiftKey });
}

const page = 12;
const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: page,
  PageUp: -page,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The change of the selection by a key. Null if the grid does not handle the key. */
function changeFor(
  event: KeyboardEvent,
  order: readonly number[],
): ((before: Selection) => Selection) | null {
  const { key, shiftKey, ctrlKey, metaKey } = event;
  const isCommand = ctrlKey || metaKey;
  if (isCommand && key === "a") return (before) => allOf(order, before);
  if (isCommand) return null;
  if (key === "Escape") return cleared;
  if (key === " " || key === "x") {
    return (before) => (before.cursor === null ? before : toggled(before, before.cursor));
  }
  const by = steps[key];
  if (by === undefined) return null;
  return (before) => moved(before, order, { by, extends: shiftKey });
}
