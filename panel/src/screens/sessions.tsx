import { useCallback, useEffect, useMemo, useState } from "react";
import type { HealthAnswer, PricedSession, RouteAnswers, ViewerEvent } from "../api/contract.ts";
import { useEvents } from "../api/live.ts";
import { refresh, useResource } from "../api/resource.ts";
import { manyText } from "../base/words.ts";
import { FirstRun } from "../parts/first-run.tsx";
import { Problem } from "../parts/problem.tsx";
import { SessionDialog } from "../sessions/session-dialog.tsx";
import { SessionLine } from "../sessions/session-line.tsx";
import { type SessionSort, SortChoice, sorted } from "../sessions/sort.tsx";

/** As many as one answer has. */
const rowsMax = 1_000;

/** Which runs there are, and which of them fills up. */
export function SessionsScreen() {
  const { data, error } = useResource<RouteAnswers["SessionsPage"]>(`/sessions?limit=${rowsMax}`);
  const { data: health } = useResource<HealthAnswer>("/health");
  const [words, setWords] = useState("");
  const now = useNow();
  useEvents(null, useCallback(onEvent, []));
  const [sort, setSort] = useState<SessionSort>("last");
  const [managed, setManaged] = useState<PricedSession | null>(null);
  const rows = useMemo(
    () =>
      sorted(
        (data?.rows ?? []).filter((row) => fits(row, words)),
        sort,
      ),
    [data, words, sort],
  );
  if (data === null)
    return error === null ? <p className="loading">Reading the sessions…</p> : <Problem error={error} />;
  if (data.rows.length === 0) return <FirstRun health={health} />;
  return (
    <section className="sessions">
      <header className="screen-head">
        <h1>Sessions</h1>
        <input
          className="input"
          type="search"
          aria-label="Find a session"
          placeholder="Find by name, client or model"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <span className="dim" aria-live="polite">
          {rows.length} of {data.rows.length}
          {data.next === null ? "" : " used last; there are more"}
        </span>
        <SortChoice sort={sort} onSort={setSort} />
      </header>
      {data.damaged.length === 0 ? null : (
        <p className="problem">
          {manyText(data.damaged.length, "session")} cannot be opened; <code>aperture verify</code> says why.
        </p>
      )}
      <ul className="session-list">
        {rows.map((row) => (
          <SessionLine key={row.id} row={row} nowMs={now} onManage={setManaged} />
        ))}
      </ul>
      {rows.length === 0 ? <p className="dim">No session is called that.</p> : null}
      {managed === null ? null : <SessionDialog row={managed} onClose={() => setManaged(null)} />}
    </section>
  );
}

function fits({ name, client, model, project }: PricedSession, words: string): boolean {
  return `${name} ${client} ${model ?? ""} ${project ?? ""}`.toLowerCase().includes(words.toLowerCase());
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
