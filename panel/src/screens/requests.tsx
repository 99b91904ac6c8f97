import { useCallback, useMemo, useState } from "react";
import type { PricedRequest, PricedRequests, RouteAnswers } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { useCommands } from "../base/commands.ts";
import { pluralText } from "../base/format.ts";
import { go } from "../base/navigation.ts";
import type { RequestTab } from "../base/routes.ts";
import { ErrorPage } from "../components/error-page.tsx";
import { sessionPath } from "../context/actions.ts";
import { RequestDetail } from "../requests/request-detail.tsx";
import { RequestList } from "../requests/request-list.tsx";

export type RequestsProps = {
  readonly session: string;
  readonly exchange: number | null;
  readonly tab: RequestTab;
};

const pageRows = 1_000;

/** The requests of a session, newest first, with the detail of one. */
export function RequestsScreen({ session, exchange, tab }: RequestsProps) {
  const { data: detail } = useResource<RouteAnswers["SessionDetail"]>(sessionPath(session));
  const [back, setBack] = useState(0);
  const total = detail?.session.requests ?? 0;
  const after = Math.max(0, (Math.ceil(total / pageRows) - 1 - back) * pageRows);
  const { data, error } = useResource<PricedRequests>(
    detail === null ? null : `${sessionPath(session)}/requests?after=${after}&limit=${pageRows}`,
  );
  const rows = useMemo(() => [...(data?.rows ?? [])].reverse(), [data]);
  const moves = useMoves({ session, exchange, tab }, rows);
  if (data === null)
    return error === null ? <p className="loading">Loading the requests…</p> : <ErrorPage error={error} />;
  if (data.total === 0) return <p className="requests-none dim">This session has no requests yet.</p>;
  return (
    <div className={exchange === null ? "requests" : "requests open"}>
      <section className="requests-main">
        <header className="screen-head">
          <h1>Requests</h1>
          <span className="dim" role="status">
            {pluralText(data.total, "request")}
            {unchangedText(rows)}
          </span>
          {data.total <= pageRows ? null : <Pages back={back} first={after} onBack={setBack} />}
        </header>
        <RequestList rows={rows} open={exchange} {...moves} />
      </section>
      {exchange === null ? null : (
        <RequestDetail
          key={exchange}
          {...{ session, exchange, tab }}
          row={rows.find(({ id }) => id === exchange) ?? null}
          onTab={(next) => go({ screen: "requests", session, exchange, tab: next }, "replace")}
          onClose={moves.onClose}
        />
      )}
    </div>
  );
}

function unchangedText(rows: readonly PricedRequest[]): string {
  const raw = rows.filter(({ rendering }) => rendering === "raw").length;
  return raw === 0 ? "" : `, ${raw} of ${rows.length} passed unchanged`;
}

type PagesProps = {
  readonly back: number;
  readonly first: number;
  readonly onBack: (back: number) => void;
};

function Pages({ back, first, onBack }: PagesProps) {
  return (
    <>
      <button type="button" className="button small" disabled={first === 0} onClick={() => onBack(back + 1)}>
        Earlier
      </button>
      <button type="button" className="button small" disabled={back === 0} onClick={() => onBack(back - 1)}>
        Later
      </button>
    </>
  );
}

/** The cursor of the list. While a request is open, moving opens the next one. */
function useMoves({ session, exchange, tab }: RequestsProps, rows: readonly PricedRequest[]) {
  const [cursor, setCursor] = useState(exchange);
  const cursorId = exchange ?? cursor;
  const onMove = useCallback(
    (id: number) => {
      setCursor(id);
      if (exchange !== null) go({ screen: "requests", session, exchange: id, tab }, "replace");
    },
    [session, exchange, tab],
  );
  const onOpen = useCallback(
    (id: number) => {
      setCursor(id);
      go({ screen: "requests", session, exchange: id, tab });
    },
    [session, tab],
  );
  const onClose = useCallback(
    () => go({ screen: "requests", session, exchange: null, tab: "diff" }),
    [session],
  );
  const at = rows.findIndex(({ id }) => id === cursorId);
  const by = (step: number) => () => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
    if (next !== undefined) onMove(next.id);
  };
  const open = (): void => {
    const row = rows[Math.max(0, at)];
    if (row !== undefined) onOpen(row.id);
  };
  useCommands([
    { id: "request-next", title: "Next request", keys: ["j"], group: "Requests", run: by(1) },
    { id: "request-previous", title: "Previous request", keys: ["k"], group: "Requests", run: by(-1) },
    { id: "request-open", title: "Open the request", keys: ["Enter", "o"], group: "Requests", run: open },
  ]);
  return { cursor: cursorId, onMove, onOpen, onClose };
}
