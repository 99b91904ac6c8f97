import { useState } from "react";
import { errorText, readText } from "../api/client.ts";
import type { HealthAnswer, PricedRequest, PricedRequestDetail, RouteAnswers } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { copyText } from "../base/clipboard.ts";
import { useCommands } from "../base/commands.ts";
import { clockText } from "../base/format.ts";
import { type RequestTab, requestTabs } from "../base/routes.ts";
import { ErrorPage } from "../components/error-page.tsx";
import { Tabs } from "../components/tabs.tsx";
import { showError, showToast } from "../components/toasts.tsx";
import { sessionPath } from "../context/actions.ts";
import { BodyView } from "./body-view.tsx";
import { curlText } from "./curl.ts";
import { DiffView } from "./diff-view.tsx";
import { FactsView } from "./facts-view.tsx";
import { ReplayView } from "./replay-view.tsx";
import { outcomeText, roleText } from "./request-text.ts";
import { useFetch } from "./use-fetch.ts";

export type RequestDetailProps = {
  readonly session: string;
  readonly exchange: number;
  readonly tab: RequestTab;
  /** The row of the list, which is updated while the request is in progress. */
  readonly row: PricedRequest | null;
  readonly onTab: (tab: RequestTab) => void;
  readonly onClose: () => void;
};

const titles: Readonly<Record<RequestTab, string>> = {
  diff: "Diff",
  client: "Client request",
  upstream: "Upstream request",
  response: "Response",
  facts: "Facts",
};

/** One request: its diff, bodies and facts. */
export function RequestDetail({ session, exchange, tab, row, onTab, onClose }: RequestDetailProps) {
  const path = `${sessionPath(session)}/requests/${exchange}`;
  const { data, error } = useFetch<PricedRequestDetail>(path, `${row?.outcome}`);
  const [isPrevious, setPrevious] = useState(false);
  const [replayed, setReplayed] = useState<number | null>(null);
  const replay = (): void => {
    setReplayed(exchange);
    onTab("diff");
  };
  const compare = (): void => {
    setPrevious((before) => !before);
    onTab("diff");
  };
  useDetailCommands({ compare, replay, close: onClose });
  if (error !== null) return <ErrorPage error={error} />;
  const request = row ?? data?.request ?? null;
  return (
    <section className="request-detail" aria-label={`Request ${exchange}`}>
      <header>
        <h2>Request {exchange}</h2>
        <span className="dim">{request === null ? "" : titleText(request)}</span>
        <span className="request-actions">
          {request === null ? null : <RequestActions {...{ session, path, request, exchange, replay }} />}
          <button type="button" className="button quiet" aria-label="Close the request" onClick={onClose}>
            ×
          </button>
        </span>
      </header>
      <div className="request-tabs">
        <Tabs names={requestTabs} chosen={tab} onChoose={onTab} label="Request" titles={titles} />
        {tab === "diff" ? (
          <label className="check">
            <input type="checkbox" checked={isPrevious} onChange={() => setPrevious((before) => !before)} />
            <span>
              Compare with the previous request <kbd>d</kbd>
            </span>
          </label>
        ) : null}
      </div>
      <div className="request-body">
        {tab === "diff" && request !== null && replayed === exchange ? (
          <ReplayView path={path} row={request} />
        ) : null}
        {tab === "diff" && request !== null ? (
          <DiffView {...{ session, path, isPrevious }} row={request} />
        ) : null}
        {tab === "client" || tab === "upstream" || tab === "response" ? (
          <BodyView path={`${path}/${tab}`} label={titles[tab]} />
        ) : null}
        {tab === "facts" && data !== null ? <FactsView detail={data} /> : null}
      </div>
    </section>
  );
}

function titleText(request: PricedRequest): string {
  const time = request.time === null ? "" : clockText(request.time);
  return [roleText(request), request.model ?? "", outcomeText(request), time]
    .filter((each) => each !== "")
    .join(" · ");
}

type RequestActionsProps = {
  readonly session: string;
  readonly path: string;
  readonly request: PricedRequest;
  readonly exchange: number;
  readonly replay: () => void;
};

function RequestActions({ session, path, request, exchange, replay }: RequestActionsProps) {
  const { data: health } = useResource<HealthAnswer>("/health");
  const { data: detail } = useResource<RouteAnswers["SessionDetail"]>(sessionPath(session));
  const file = `request-${exchange}-upstream.json`;
  const copyCurl = async (): Promise<void> => {
    const upstream = health?.upstreams[detail?.session.upstream ?? ""] ?? "$UPSTREAM_URL";
    const body = await readText(`${path}/upstream`);
    const line = curlText({ target: request.target, upstream, body, file });
    if (await copyText(line)) showToast("Copied. The key is a shell variable.");
    else showError("The browser refused to copy. Save the JSON instead.");
  };
  const save = async (): Promise<void> => saveText(file, await readText(`${path}/upstream`));
  const withErrors = (run: () => Promise<void>) => () =>
    void run().catch((error: unknown) => showError(errorText(error)));
  return (
    <>
      <button type="button" className="button small" onClick={withErrors(copyCurl)}>
        Copy as curl
      </button>
      <button type="button" className="button small" onClick={withErrors(save)}>
        Save JSON
      </button>
      <button type="button" className="button small" title={replayText} onClick={replay}>
        Replay
      </button>
    </>
  );
}

const replayText = "Check this request with Aperture’s strict model API. Nothing is sent and no key is used.";

/** Saves a body as a file. Credentials were masked before it was recorded. */
function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

type DetailCommands = Readonly<Record<"compare" | "replay" | "close", () => void>>;

function useDetailCommands({ compare, replay, close }: DetailCommands): void {
  const group = "Requests";
  useCommands([
    {
      id: "request-compare",
      title: "Compare with the previous request",
      keys: ["d"],
      group,
      run: compare,
    },
    { id: "request-replay", title: "Replay against the strict model API", keys: [], group, run: replay },
    { id: "request-close", title: "Close the request", keys: ["Escape"], group, run: close },
  ]);
}
