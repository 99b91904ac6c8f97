import { useEffect, useRef } from "react";
import type { BlockRow } from "../api/contract.ts";
import { useCommands } from "../base/commands.ts";

export type Sort = "order" | "size";

export type FilterBarProps = {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly sort: Sort;
  readonly setSort: (sort: Sort) => void;
  readonly rows: readonly BlockRow[];
  readonly problems: readonly string[];
  /** True while labels are read that the filter needs. */
  readonly isSearching: boolean;
  /** The number of blocks read so far, and of all. */
  readonly read: number;
  readonly total: number;
  readonly onCreate: () => void;
  readonly onRecall: () => void;
  readonly onManifest: () => void;
  /** True while an earlier seq is shown, where nothing can be changed. */
  readonly isPast: boolean;
};

const example = "topic words, zone:cold kind:tool level:trimmed pinned:yes tokens:>2k age:>5";

/** Filters and sorts the list. `/` moves the focus here. */
export function FilterBar({
  text,
  setText,
  sort,
  setSort,
  rows,
  problems,
  isSearching,
  read,
  total,
  onCreate,
  onRecall,
  onManifest,
  isPast,
}: FilterBarProps) {
  const input = useRef<HTMLInputElement>(null);
  useCommands([
    {
      id: "filter",
      title: "Filter the blocks",
      keys: ["/"],
      group: "Blocks",
      run: () => input.current?.focus(),
    },
  ]);
  useEffect(() => {
    const field = input.current;
    const leave = (event: KeyboardEvent): void => {
      if (event.key === "Escape") setText("");
    };
    field?.addEventListener("keydown", leave);
    return () => field?.removeEventListener("keydown", leave);
  }, [setText]);
  return (
    <div className="filter-bar">
      <input
        ref={input}
        className="input"
        type="search"
        aria-label="Filter the blocks"
        placeholder={example}
        title={example}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <span className="filter-count" aria-live="polite">
        {problems.length === 0 ? `${rows.length} of ${total}` : `unknown filter: ${problems.join(" ")}`}
        {read < total ? <span className="loading">, reading more…</span> : null}
        {isSearching && read === total ? <span className="loading">, searching…</span> : null}
      </span>
      <label>
        <span className="hidden-label">Sort</span>
        <select className="input" value={sort} onChange={(event) => setSort(event.target.value as Sort)}>
          <option value="order">request order</option>
          <option value="size">largest first</option>
        </select>
      </label>
      <button type="button" className="button" onClick={onRecall}>
        Recall <kbd>r</kbd>
      </button>
      <button type="button" className="button" disabled={isPast} onClick={onCreate}>
        New memory <kbd>m</kbd>
      </button>
      <button type="button" className="button" onClick={onManifest}>
        Manifest <kbd>g m</kbd>
      </button>
    </div>
  );
}
