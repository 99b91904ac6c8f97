import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import type { PricedRequest } from "../api/contract.ts";
import { clockText } from "../base/format.ts";
import {
  addedText,
  firstChange,
  isFailed,
  outcomeText,
  promptOf,
  renderingText,
  roleText,
  usageText,
} from "./request-text.ts";

export type RequestListProps = {
  /** Newest first. */
  readonly rows: readonly PricedRequest[];
  /** The request with the keyboard cursor. */
  readonly cursor: number | null;
  readonly open: number | null;
  readonly onMove: (exchange: number) => void;
  readonly onOpen: (exchange: number) => void;
};

const rowPx = 32;
const columns = ["#", "time", "purpose", "model", "status", "in", "cached", "out", "added", "sent"] as const;

/** The requests as a grid. Only visible rows are in the DOM. */
export function RequestList(props: RequestListProps) {
  const { rows, cursor, open, onOpen } = props;
  const { scroller, virtual, cursorAt, onKeyDown } = useGrid(props);
  return (
    <div className="request-list">
      <div className="request-head" aria-hidden="true">
        {columns.map((name) => (
          <span key={name} className={`cell ${name === "#" ? "n" : name}`}>
            {name}
          </span>
        ))}
      </div>
      <div
        ref={scroller}
        className="request-scroll"
        role="grid"
        aria-label="Requests, newest first"
        aria-rowcount={rows.length}
        aria-colcount={columns.length}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" className="request-all" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <RequestLine
                key={row.id}
                {...{ row, index, start }}
                isOpen={row.id === open}
                isCursor={cursor === null ? index === 0 : index === cursorAt}
                onOpen={() => onOpen(row.id)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function useGrid({ rows, cursor, onMove, onOpen }: RequestListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const cursorAt = Math.max(
    0,
    rows.findIndex(({ id }) => id === cursor),
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 8,
    // The row that Tab reaches stays in the DOM when it is scrolled out of sight.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return shown.includes(cursorAt) || cursorAt >= range.count
        ? shown
        : [...shown, cursorAt].sort((a, b) => a - b);
    },
  });
  useEffect(() => {
    if (cursor === null) return;
    virtual.scrollToIndex(cursorAt);
    const grid = scroller.current;
    // A focus outside the grid stays where it is.
    if (grid?.contains(document.activeElement) !== true) return;
    requestAnimationFrame(() => grid.querySelector<HTMLElement>(`[data-index="${cursorAt}"]`)?.focus());
  }, [cursor, cursorAt, virtual]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[cursorAt];
    if (event.key === "Enter" && row !== undefined) {
      event.preventDefault();
      onOpen(row.id);
      return;
    }
    const by = steps[event.key];
    const next = by === undefined ? undefined : rows[Math.min(rows.length - 1, Math.max(0, cursorAt + by))];
    if (next === undefined) return;
    event.preventDefault();
    onMove(next.id);
  };
  return { scroller, virtual, cursorAt, onKeyDown };
}

const page = 12;
const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: page,
  PageUp: -page,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

type LineProps = {
  readonly row: PricedRequest;
  readonly index: number;
  readonly start: number;
  readonly isOpen: boolean;
  readonly isCursor: boolean;
  readonly onOpen: () => void;
};

function RequestLine({ row, index, start, isOpen, isCursor, onOpen }: LineProps) {
  const change = firstChange(row);
  const cells: readonly (readonly [name: string, text: string])[] = [
    ["n", `${row.id}`],
    ["time", row.time === null ? "" : clockText(row.time)],
    ["purpose", roleText(row)],
    ["model", row.model ?? ""],
    [isFailed(row) ? "status failed" : "status", outcomeText(row)],
    ["in", usageText(promptOf(row))],
    ["cached", usageText(row.usage?.cacheRead)],
    ["out", usageText(row.usage?.output)],
    ["added", addedText(row.addedMs)],
  ];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all rows.
    <div
      className={`request-row${isOpen ? " chosen" : ""}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isOpen}
      data-index={index}
      data-request={row.id}
      tabIndex={isCursor ? 0 : -1}
      style={{ transform: `translateY(${start}px)` }}
      onClick={onOpen}
    >
      {cells.map(([name, text]) => (
        <span key={name} className={`cell ${name}`} role="gridcell" title={text}>
          {text}
        </span>
      ))}
      <span className="cell sent" role="gridcell" title={renderingText[row.rendering]}>
        <span className={`badge ${row.rendering}`}>
          {row.rendering === "raw" ? "unchanged" : row.rendering}
        </span>
        {change === null ? null : (
          <span className="badge rewritten" title={`rewrite: ${row.rewrite?.why ?? ""}`}>
            {change}
          </span>
        )}
      </span>
    </div>
  );
}
