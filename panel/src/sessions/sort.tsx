import type { PricedSession } from "../api/contract.ts";

const sorts = { last: "used last", spend: "dearest first", full: "fullest first" } as const;
export type SessionSort = keyof typeof sorts;

export function sorted(rows: readonly PricedSession[], sort: SessionSort): readonly PricedSession[] {
  if (sort === "last") return rows;
  const measure = sort === "spend" ? spendOf : fillOf;
  return [...rows].sort((a, b) => measure(b) - measure(a));
}

function spendOf({ spend }: PricedSession): number {
  return spend.usd ?? -1;
}

function fillOf({ window: { used, size } }: PricedSession): number {
  return size === null || size === 0 ? 0 : used / size;
}

type SortChoiceProps = { readonly sort: SessionSort; readonly onSort: (sort: SessionSort) => void };

export function SortChoice({ sort, onSort }: SortChoiceProps) {
  return (
    <label>
      <span className="hidden-label">Sort</span>
      <select className="input" value={sort} onChange={(event) => onSort(event.target.value as SessionSort)}>
        {Object.entries(sorts).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
