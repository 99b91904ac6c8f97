import { useCallback, useEffect, useMemo, useState } from "react";
import type { HealthAnswer, PricedSession, RouteAnswers, ViewerEvent } from "../api/contract.ts";
import { useEvents } from "../api/events.ts";
import { refresh, useResource } from "../api/resource.ts";
import { pluralText } from "../base/format.ts";
import { ErrorPage } from "../components/error-page.tsx";
import { FirstRun } from "../components/first-run.tsx";
import { SessionDialog } from "../sessions/session-dialog.tsx";
import { SessionLine } from "../sessions/session-line.tsx";

/** The most rows of one response. */
const rowsMax = 1_000;

/** The list of sessions. */
export function SessionsScreen() {
  const { data, error } = useResource<RouteAnswers["SessionsPage"]>(`/sessions?limit=${rowsMax}`);
  const { data: health } = useResource<HealthAnswer>("/health");
  const [search, setSearch] = useState("");
  const now = useNow();
  useEvents(null, useCallback(onEvent, []));
  const [sort, setSort] = useState<SessionSort>("last");
  const [openSession, setOpenSession] = useState<PricedSession | null>(null);
  const rows = useMemo(
    () =>
      sortSessions(
        (data?.rows ?? []).filter((row) => matches(row, search)),
        sort,
      ),
    [data, search, sort],
  );
  if (data === null)
    return error === null ? <p className="loading">Loading the sessions…</p> : <ErrorPage error={error} />;
  if (data.rows.length === 0) return <FirstRun health={health} />;
  return (
    <section className="sessions">
      <header className="screen-head">
        <h1>Sessions</h1>
        <input
          className="input"
          type="search"
          aria-label="Filter the sessions"
          placeholder="Filter by name, client or model"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <span className="dim" aria-live="polite">
          {rows.length} of {data.rows.length}
          {data.next === null ? "" : " last used; older ones are not listed"}
        </span>
        <SortChoice sort={sort} onSort={setSort} />
      </header>
      {data.damaged.length === 0 ? null : (
        <p className="problem">
          {pluralText(data.damaged.length, "session")} cannot be opened; <code>aperture verify</code> tells
          you why.
        </p>
      )}
      <ul className="session-list">
        {rows.map((row) => (
          <SessionLine key={row.id} row={row} nowMs={now} onManage={setOpenSession} />
        ))}
      </ul>
      {rows.length === 0 ? <p className="dim">No session matches the filter.</p> : null}
      {openSession === null ? null : <SessionDialog row={openSession} onClose={() => setOpenSession(null)} />}
    </section>
  );
}

function matches({ name, client, model, project }: PricedSession, search: string): boolean {
  return `${name} ${client} ${model ?? ""} ${project ?? ""}`.toLowerCase().includes(search.toLowerCase());
}

function onEvent(event: ViewerEvent): void {
  if (event.type === "degraded") refresh("/health");
  else if (event.type !== "notice") refresh("/sessions");
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const sorts = { last: "last used first", spend: "most expensive first", full: "fullest first" } as const;
type SessionSort = keyof typeof sorts;

function sortSessions(rows: readonly PricedSession[], sort: SessionSort): readonly PricedSession[] {
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

function SortChoice({ sort, onSort }: SortChoiceProps) {
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
